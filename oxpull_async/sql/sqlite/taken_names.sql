-- taken_names: those of these names that nodes of a workflow have, whose row the caller has locked: name and task.
SELECT n.name, n.task_id FROM oxpull_workflow_node AS n INDEXED BY oxpull_workflow_node_name
 WHERE n.workflow_id = :workflow_id AND n.name IN (SELECT value FROM json_each(:names))
