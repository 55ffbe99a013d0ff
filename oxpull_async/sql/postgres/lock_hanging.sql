-- lock_hanging: lock these rows in order, those with a running lock; returns it, and whether the row is due.
SELECT t.lock_key, t.due = 1 FROM oxpull_task t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) AND t.lock_key IS NOT NULL
 ORDER BY t.id FOR UPDATE
