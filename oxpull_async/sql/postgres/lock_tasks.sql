-- lock_tasks: lock these rows in order.
SELECT t.id::text FROM oxpull_task t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
 ORDER BY t.id FOR UPDATE
