-- keys_of_tasks: what hangs on these rows: the key of a follow-up, for rows declared to rerun, the
-- running lock, the batch and the workflow.
SELECT t.id, IF(t.reruns, t.unique_key, NULL), t.lock_key, t.batch_id, t.workflow_id
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
 WHERE t.reruns OR t.lock_key IS NOT NULL OR t.batch_id IS NOT NULL OR t.workflow_id IS NOT NULL
