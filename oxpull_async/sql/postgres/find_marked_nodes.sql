-- find_marked_nodes: node rows that carry a recheck mark: task and workflow.
SELECT n.task_id::text, n.workflow_id::text FROM oxpull_workflow_node n
 WHERE n.recheck = 1 ORDER BY n.task_id LIMIT :limit::int
