-- unpark_tasks: make rows ready that waited for a running lock; returns nothing, matches the rows moved.
UPDATE oxpull_task AS t SET status = 'READY', waiting_for = NULL, due = 1
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) AND t.waiting_for = 'lock'
