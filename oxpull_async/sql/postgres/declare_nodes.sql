-- declare_nodes: have the end of tasks followed that became nodes after they had been enqueued.
UPDATE oxpull_task AS t
   SET workflow_id = (SELECT n.workflow_id FROM oxpull_workflow_node n WHERE n.task_id = t.id)
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) AND t.workflow_id IS NULL
