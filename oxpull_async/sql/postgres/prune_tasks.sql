-- prune_tasks: delete these rows where they still have a prunable status and age.
DELETE FROM oxpull_task t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
   AND t.status = ANY(ARRAY(SELECT jsonb_array_elements_text(:statuses::text::jsonb)))
   AND t.finished_at < :now - make_interval(secs => :age::float8)
