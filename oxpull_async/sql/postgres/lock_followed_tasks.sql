-- lock_followed_tasks: lock those of these rows that are of a batch or a workflow, in order; returns them with their
-- status as it is now, whether they are of a batch, and the workflow.
SELECT t.id::text, t.status, t.batch_id IS NOT NULL, t.workflow_id::text FROM oxpull_task t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
   AND (t.batch_id IS NOT NULL OR t.workflow_id IS NOT NULL)
 ORDER BY t.id FOR UPDATE
