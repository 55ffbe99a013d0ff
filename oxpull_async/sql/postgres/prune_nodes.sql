-- prune_nodes: delete the node rows of tasks that have been pruned.
DELETE FROM oxpull_workflow_node n
 WHERE n.task_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
   AND NOT EXISTS (SELECT 1 FROM oxpull_task t WHERE t.id = n.task_id)
