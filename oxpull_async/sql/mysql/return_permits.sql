-- return_permits: take starts back that did not happen, each in the window that counted it, if that is still the present.
UPDATE JSON_TABLE(:windows, '$[*]' COLUMNS (
            name VARCHAR(128) CHARACTER SET utf8mb4 PATH '$.name' ERROR ON ERROR,
            limit_key VARCHAR(16) CHARACTER SET ascii PATH '$.limit_key' ERROR ON ERROR,
            started_at DATETIME(6) PATH '$.started_at' ERROR ON ERROR,
            permits INT PATH '$.permits' ERROR ON ERROR)) AS n
  STRAIGHT_JOIN oxpull_rate_window AS w FORCE INDEX (PRIMARY) ON w.name = n.name AND w.limit_key = n.limit_key COLLATE ascii_bin
   SET w.used = GREATEST(w.used - n.permits, 0)
 WHERE w.started_at = n.started_at
