-- prune_members: delete the member rows of tasks that have been pruned.
DELETE FROM oxpull_batch_member m
 WHERE m.task_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
   AND NOT EXISTS (SELECT 1 FROM oxpull_task t WHERE t.id = m.task_id)
