-- write_windows: write how many starts windows have counted, which the caller has locked.
UPDATE JSON_TABLE(:windows, '$[*]' COLUMNS (
            name VARCHAR(128) CHARACTER SET utf8mb4 PATH '$.name' ERROR ON ERROR,
            limit_key VARCHAR(16) CHARACTER SET ascii PATH '$.limit_key' ERROR ON ERROR,
            started_at DATETIME(6) PATH '$.started_at' ERROR ON ERROR,
            used INT PATH '$.used' ERROR ON ERROR,
            expires_at DATETIME(6) PATH '$.expires_at' ERROR ON ERROR)) AS n
  STRAIGHT_JOIN oxpull_rate_window AS w FORCE INDEX (PRIMARY) ON w.name = n.name AND w.limit_key = n.limit_key COLLATE ascii_bin
   SET w.started_at = n.started_at, w.used = n.used, w.expires_at = GREATEST(w.expires_at, n.expires_at)
