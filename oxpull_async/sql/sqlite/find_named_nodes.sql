-- find_named_nodes: those of these names that nodes of a workflow have: name, task, and what it is counted as.
SELECT n.name, n.task_id, n.counted FROM oxpull_workflow_node AS n INDEXED BY oxpull_workflow_node_name
 WHERE n.workflow_id = :workflow_id AND n.name IN (SELECT value FROM json_each(:names))
