-- mark_begun: note that claimed attempts have started, so that a reap charges them.
UPDATE JSON_TABLE(:attempts, '$[*]' COLUMNS (
            id CHAR(32) CHARACTER SET utf8mb4 PATH '$.id', epoch BIGINT PATH '$.epoch')) AS a
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = a.id
   SET t.begun = true
 WHERE t.epoch = a.epoch AND t.status = 'RUNNING'
