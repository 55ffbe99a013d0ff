-- list_nodes: the nodes of a workflow: name, task, its path and status (NULL: no task).
SELECT n.name, n.task_id, t.task_path, t.status
  FROM oxpull_workflow_node AS n FORCE INDEX (oxpull_workflow_node_name)
  LEFT JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = n.task_id
 WHERE n.workflow_id = :workflow_id
