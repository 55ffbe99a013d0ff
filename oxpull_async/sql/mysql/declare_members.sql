-- declare_members: have the end of tasks counted that became members after they had been enqueued.
UPDATE JSON_TABLE(:members, '$[*]' COLUMNS (
            task_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.task_id' ERROR ON ERROR,
            batch_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.batch_id' ERROR ON ERROR)) AS n
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = n.task_id
   SET t.batch_id = n.batch_id
 WHERE t.batch_id IS NULL
