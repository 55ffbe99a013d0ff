-- find_named_nodes: those of these names that nodes of a workflow have: name, task, and what it is counted as.
SELECT n.name, n.task_id::text, n.counted FROM oxpull_workflow_node n
 WHERE n.workflow_id = :workflow_id::text::uuid
   AND n.name = ANY(ARRAY(SELECT jsonb_array_elements_text(:names::text::jsonb)))
