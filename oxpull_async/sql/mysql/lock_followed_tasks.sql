-- lock_followed_tasks: lock those of these rows that are of a batch or a workflow, in order; returns them with their
-- status as it is now, whether they are of a batch, and the workflow.
SELECT t.id, t.status, t.batch_id IS NOT NULL, t.workflow_id
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
 WHERE t.batch_id IS NOT NULL OR t.workflow_id IS NOT NULL FOR UPDATE
