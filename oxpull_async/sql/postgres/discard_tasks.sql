-- discard_tasks: end rows that do not run, and failed or lost ones; matches the rows it moved.
WITH locked AS MATERIALIZED (
    SELECT t.id FROM oxpull_task t
     WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) ORDER BY t.id FOR UPDATE
)
UPDATE oxpull_task AS t
   SET status = 'DISCARDED', due = NULL, waiting_for = NULL, finished_at = :now,
       recheck = CASE WHEN t.reruns THEN 1 ELSE t.recheck END
  FROM locked
 WHERE t.id = locked.id AND t.status IN ('READY', 'WAITING', 'FAILED', 'LOST')
