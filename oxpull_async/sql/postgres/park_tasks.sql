-- park_tasks: let due rows wait for their running lock; attempts, epoch and place in the order stay.
UPDATE oxpull_task AS t SET status = 'WAITING', waiting_for = 'lock', due = NULL
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) AND t.due = 1
