-- delete_workflow_edges: delete the edges into the nodes of these workflows.
DELETE FROM oxpull_workflow_edge
 WHERE downstream_id IN (SELECT n.task_id FROM oxpull_workflow_node AS n INDEXED BY oxpull_workflow_node_name
                          WHERE n.workflow_id IN (SELECT value FROM json_each(:ids)))
