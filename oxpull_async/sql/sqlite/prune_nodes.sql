-- prune_nodes: delete the node rows of tasks that have been pruned.
DELETE FROM oxpull_workflow_node
 WHERE task_id IN (SELECT value FROM json_each(:ids))
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS t WHERE t.id = oxpull_workflow_node.task_id)
