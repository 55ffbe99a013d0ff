-- lock_members: lock the member rows of these tasks in order; returns task, batch, and what it is counted as.
SELECT m.task_id, m.batch_id, m.counted
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_batch_member AS m FORCE INDEX (PRIMARY) ON m.task_id = j.id
   FOR UPDATE
