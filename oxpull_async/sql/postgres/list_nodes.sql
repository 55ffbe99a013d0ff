-- list_nodes: the nodes of a workflow: name, task, its path and status (NULL: no task).
SELECT n.name, n.task_id::text, t.task_path, t.status
  FROM oxpull_workflow_node n LEFT JOIN oxpull_task t ON t.id = n.task_id
 WHERE n.workflow_id = :workflow_id::text::uuid
