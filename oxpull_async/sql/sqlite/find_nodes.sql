-- find_nodes: those of these tasks that are nodes: task, workflow and name.
SELECT n.task_id, n.workflow_id, n.name FROM oxpull_workflow_node AS n
 WHERE n.task_id IN (SELECT value FROM json_each(:ids))
