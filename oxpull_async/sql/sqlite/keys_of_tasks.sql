-- keys_of_tasks: what hangs on these rows: the key of a follow-up, for rows declared to rerun, the
-- running lock, the batch and the workflow.
SELECT t.id, CASE WHEN t.reruns THEN t.unique_key END, t.lock_key, t.batch_id, t.workflow_id
  FROM oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE t.id IN (SELECT value FROM json_each(:ids)) AND (t.reruns OR t.lock_key IS NOT NULL OR t.batch_id IS NOT NULL
        OR t.workflow_id IS NOT NULL)
