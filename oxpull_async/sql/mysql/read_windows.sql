-- read_windows: the rate windows of this list: name, key, when the window began, starts counted in it, until when it is
-- held shut; the starts noted one by one in the last `per` seconds and the first of them; and the instant of all this.
SELECT n.name, n.limit_key, w.started_at, w.used, w.held_until,
       (SELECT COUNT(*) FROM oxpull_rate_start AS r FORCE INDEX (PRIMARY)
         WHERE r.name = n.name AND r.limit_key = n.limit_key COLLATE ascii_bin
           AND r.started_at > :now - INTERVAL ROUND(n.per * 1000000) MICROSECOND),
       (SELECT MIN(r.started_at) FROM oxpull_rate_start AS r FORCE INDEX (PRIMARY)
         WHERE r.name = n.name AND r.limit_key = n.limit_key COLLATE ascii_bin
           AND r.started_at > :now - INTERVAL ROUND(n.per * 1000000) MICROSECOND),
       :now
  FROM JSON_TABLE(:windows, '$[*]' COLUMNS (
            name VARCHAR(128) CHARACTER SET utf8mb4 PATH '$.name' ERROR ON ERROR,
            limit_key VARCHAR(16) CHARACTER SET ascii PATH '$.limit_key' ERROR ON ERROR,
            per DOUBLE PATH '$.per' ERROR ON ERROR)) AS n
  LEFT JOIN oxpull_rate_window AS w FORCE INDEX (PRIMARY) ON w.name = n.name AND w.limit_key = n.limit_key COLLATE ascii_bin
