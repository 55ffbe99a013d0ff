-- list_nodes: the nodes of a workflow: name, task, its path and status (NULL: no task).
SELECT n.name, n.task_id, t.task_path, t.status
  FROM oxpull_workflow_node AS n INDEXED BY oxpull_workflow_node_name
  LEFT JOIN oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1 ON t.id = n.task_id
 WHERE n.workflow_id = :workflow_id
