-- cancel_tasks: discard rows that do not run yet, and ask running ones to stop; matches the rows it changed.
WITH locked AS MATERIALIZED (
    SELECT t.id FROM oxpull_task t
     WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) ORDER BY t.id FOR UPDATE
)
UPDATE oxpull_task AS t
   SET status = CASE WHEN t.status = 'RUNNING' THEN 'RUNNING' ELSE 'DISCARDED' END,
       cancel_requested = t.status = 'RUNNING', due = NULL, waiting_for = NULL,
       recheck = CASE WHEN t.reruns AND t.status <> 'RUNNING' THEN 1 ELSE t.recheck END,
       finished_at = CASE WHEN t.status = 'RUNNING' THEN NULL ELSE :now END
  FROM locked
 WHERE t.id = locked.id
   AND (t.status IN ('READY', 'WAITING') OR t.status = 'RUNNING' AND NOT t.cancel_requested)
