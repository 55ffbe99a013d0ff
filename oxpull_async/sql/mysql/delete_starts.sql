-- delete_starts: take starts under sliding limits back that did not happen.
DELETE r
  FROM JSON_TABLE(:starts, '$[*]' COLUMNS (
            name VARCHAR(128) CHARACTER SET utf8mb4 PATH '$.name' ERROR ON ERROR,
            limit_key VARCHAR(16) CHARACTER SET ascii PATH '$.limit_key' ERROR ON ERROR,
            task_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.task_id' ERROR ON ERROR,
            epoch BIGINT PATH '$.epoch' ERROR ON ERROR)) AS n
  STRAIGHT_JOIN oxpull_rate_start AS r FORCE INDEX (PRIMARY)
    ON r.name = n.name AND r.limit_key = n.limit_key COLLATE ascii_bin
 WHERE r.task_id = n.task_id AND r.epoch = n.epoch
