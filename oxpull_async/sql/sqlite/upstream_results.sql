-- upstream_results: the direct upstreams of a node: name, what it is counted as, its task's status (NULL: no task),
-- return value and path.
SELECT up.name, up.counted, t.status, t.return_value, t.task_path
  FROM oxpull_workflow_edge AS e INDEXED BY oxpull_workflow_edge_downstream
 CROSS JOIN oxpull_workflow_node AS up INDEXED BY sqlite_autoindex_oxpull_workflow_node_1 ON up.task_id = e.upstream_id
  LEFT JOIN oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1 ON t.id = e.upstream_id
 WHERE e.downstream_id = :task_id
