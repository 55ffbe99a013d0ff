-- taken_names: those of these names that nodes of a workflow have, whose row the caller has locked: name and task.
SELECT n.name, n.task_id::text FROM oxpull_workflow_node n
 WHERE n.workflow_id = :workflow_id::text::uuid
   AND n.name = ANY(ARRAY(SELECT jsonb_array_elements_text(:names::text::jsonb)))
