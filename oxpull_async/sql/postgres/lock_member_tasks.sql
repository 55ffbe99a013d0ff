-- lock_member_tasks: lock those of these rows that are of a batch, in order; returns them with their status as it is now.
SELECT t.id::text, t.status FROM oxpull_task t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) AND t.batch_id IS NOT NULL
 ORDER BY t.id FOR UPDATE
