-- find_nodes: those of these tasks that are nodes: task, workflow and name.
SELECT n.task_id::text, n.workflow_id::text, n.name FROM oxpull_workflow_node n
 WHERE n.task_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
