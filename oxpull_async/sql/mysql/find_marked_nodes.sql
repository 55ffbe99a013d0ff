-- find_marked_nodes: node rows that carry a recheck mark: task and workflow.
SELECT n.task_id, n.workflow_id FROM oxpull_workflow_node AS n FORCE INDEX (oxpull_workflow_node_recheck)
 WHERE n.recheck = 1 ORDER BY n.task_id LIMIT :limit
