-- upstream_results: the direct upstreams of a node: name, what it is counted as, its task's status (NULL: no task),
-- return value and path.
SELECT up.name, up.counted, t.status, t.return_value::text, t.task_path
  FROM oxpull_workflow_edge e
  JOIN oxpull_workflow_node up ON up.task_id = e.upstream_id
  LEFT JOIN oxpull_task t ON t.id = e.upstream_id
 WHERE e.downstream_id = :task_id::text::uuid
