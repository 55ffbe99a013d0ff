-- unmet_edges: edges into a node that are not met, `limit` at most: the upstream's name and task, that task's status
-- (NULL: no task), and what a bad end of it does.
SELECT up.name, e.upstream_id::text, t.status, e.on_failure
  FROM oxpull_workflow_edge e
  JOIN oxpull_workflow_node up ON up.task_id = e.upstream_id
  LEFT JOIN oxpull_task t ON t.id = e.upstream_id
 WHERE e.downstream_id = :task_id::text::uuid AND e.state IS DISTINCT FROM 'met'
 LIMIT :limit
