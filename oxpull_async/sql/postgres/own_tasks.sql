-- own_tasks: those of these rows that belong to an alias.
SELECT t.id::text FROM oxpull_task t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
   AND t.backend_alias = :backend_alias::text
