-- lock_members: lock the member rows of these tasks in order; returns task, batch, and what it is counted as. Rows are found
-- before they are locked, so that one which is not committed yet keeps nobody waiting.
SELECT m.task_id, m.batch_id, m.counted
  FROM (SELECT DISTINCT f.task_id, f.batch_id
          FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
          STRAIGHT_JOIN oxpull_batch_member AS f FORCE INDEX (PRIMARY) ON f.task_id = j.id
         ORDER BY f.task_id, f.batch_id LIMIT 1000000) AS n
  STRAIGHT_JOIN oxpull_batch_member AS m FORCE INDEX (PRIMARY) ON m.task_id = n.task_id AND m.batch_id = n.batch_id
   FOR UPDATE
