-- upstream_results: the direct upstreams of a node: name, what it is counted as, its task's status (NULL: no task),
-- return value and path.
SELECT up.name, up.counted, t.status, t.return_value, t.task_path
  FROM oxpull_workflow_edge AS e FORCE INDEX (oxpull_workflow_edge_downstream)
  STRAIGHT_JOIN oxpull_workflow_node AS up FORCE INDEX (PRIMARY) ON up.task_id = e.upstream_id
  LEFT JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = e.upstream_id
 WHERE e.downstream_id = :task_id
