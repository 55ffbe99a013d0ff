-- run_tasks_now: let ready rows that are not due yet be claimed at once; matches the rows it moved.
WITH locked AS MATERIALIZED (
    SELECT t.id FROM oxpull_task t
     WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) ORDER BY t.id FOR UPDATE
)
UPDATE oxpull_task AS t
   SET due = 1, available_at = :now
  FROM locked
 WHERE t.id = locked.id AND t.status = 'READY' AND t.available_at > :now
