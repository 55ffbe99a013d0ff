-- declare_members: have the end of tasks counted that became members after they had been enqueued.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
   SET t.batch_id = (SELECT MIN(m.batch_id) FROM oxpull_batch_member AS m WHERE m.task_id = j.id)
 WHERE t.batch_id IS NULL
