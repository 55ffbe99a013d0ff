-- keys_of_tasks: what hangs on these rows: the key of a follow-up, for rows declared to rerun, the
-- running lock, the batch and the workflow.
SELECT t.id::text, CASE WHEN t.reruns THEN t.unique_key END, t.lock_key, t.batch_id::text,
       t.workflow_id::text
  FROM oxpull_task t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
   AND (t.reruns OR t.lock_key IS NOT NULL OR t.batch_id IS NOT NULL OR t.workflow_id IS NOT NULL)
