-- retry_tasks: make ended rows ready once more with one more attempt allowed, or let nodes
-- wait whose edges are not all met; matches the rows it moved.
WITH locked AS MATERIALIZED (
    SELECT t.id FROM oxpull_task t
     WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) ORDER BY t.id FOR UPDATE
)
UPDATE oxpull_task AS t
   SET status = CASE WHEN w.waits THEN 'WAITING' ELSE 'READY' END, due = CASE WHEN NOT w.waits THEN 1 END,
       waiting_for = CASE WHEN w.waits THEN 'edges' END, epoch = t.epoch + 1, max_attempts = t.attempts + 1,
       available_at = :now, finished_at = NULL, cancel_requested = false
  FROM locked
 CROSS JOIN LATERAL (VALUES (EXISTS (
     SELECT 1 FROM oxpull_workflow_node n WHERE n.task_id = locked.id AND n.unmet > 0))) AS w(waits)
 WHERE t.id = locked.id
   AND (t.status IN ('FAILED', 'LOST') OR t.status = 'DISCARDED' AND :include_discarded::boolean)
