-- retry_tasks: make ended rows ready once more with one more attempt allowed; matches the rows it moved.
WITH locked AS MATERIALIZED (
    SELECT t.id FROM oxpull_task t
     WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) ORDER BY t.id FOR UPDATE
)
UPDATE oxpull_task AS t
   SET status = 'READY', due = 1, epoch = t.epoch + 1, max_attempts = t.attempts + 1, available_at = :now,
       finished_at = NULL, cancel_requested = false
  FROM locked
 WHERE t.id = locked.id
   AND (t.status IN ('FAILED', 'LOST') OR t.status = 'DISCARDED' AND :include_discarded::boolean)
