-- lock_node_tasks: lock those of these rows that nobody else has locked, in order; returns them with their status.
SELECT t.id::text, t.status FROM oxpull_task t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
 ORDER BY t.id FOR UPDATE SKIP LOCKED
