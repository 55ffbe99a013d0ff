-- delete_workflow_edges: delete the edges into the nodes of these workflows.
DELETE FROM oxpull_workflow_edge e
 USING oxpull_workflow_node n
 WHERE n.workflow_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
   AND e.downstream_id = n.task_id
