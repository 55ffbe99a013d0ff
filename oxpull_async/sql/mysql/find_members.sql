-- find_members: which of these tasks are members of a batch, whose row the caller has locked.
SELECT m.task_id
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_batch_member AS m FORCE INDEX (PRIMARY) ON m.task_id = j.id AND m.batch_id = :batch_id
   FOR UPDATE
