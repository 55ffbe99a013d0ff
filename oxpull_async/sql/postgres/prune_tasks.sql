-- prune_tasks: delete these rows, which the caller has locked.
DELETE FROM oxpull_task t WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
