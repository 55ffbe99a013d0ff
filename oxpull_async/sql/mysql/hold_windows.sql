-- hold_windows: shut windows, which the caller has locked, for some seconds from now; one never opens sooner for it.
UPDATE JSON_TABLE(:windows, '$[*]' COLUMNS (
            name VARCHAR(128) CHARACTER SET utf8mb4 PATH '$.name' ERROR ON ERROR,
            limit_key VARCHAR(16) CHARACTER SET ascii PATH '$.limit_key' ERROR ON ERROR,
            delay DOUBLE PATH '$.delay' ERROR ON ERROR)) AS n
  STRAIGHT_JOIN oxpull_rate_window AS w FORCE INDEX (PRIMARY) ON w.name = n.name AND w.limit_key = n.limit_key COLLATE ascii_bin
   SET w.held_until = GREATEST(COALESCE(w.held_until, :now), :now + INTERVAL ROUND(n.delay * 1000000) MICROSECOND),
       w.expires_at = GREATEST(w.expires_at, :now + INTERVAL ROUND(n.delay * 1000000) MICROSECOND)
