-- find_statuses: these rows with their status, and what they wait for.
SELECT t.id::text, t.status, t.waiting_for FROM oxpull_task t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
