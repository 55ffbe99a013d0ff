-- delete_workflow_nodes: delete the node rows of these workflows.
DELETE FROM oxpull_workflow_node WHERE workflow_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
