-- prune_members: delete the member rows of tasks that have been pruned.
DELETE m
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_batch_member AS m FORCE INDEX (PRIMARY) ON m.task_id = j.id
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_task AS t WHERE t.id = m.task_id)
