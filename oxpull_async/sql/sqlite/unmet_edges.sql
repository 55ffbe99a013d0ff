-- unmet_edges: edges into a node that are not met, `limit` at most: the upstream's name and task, that task's status
-- (NULL: no task), and what a bad end of it does.
SELECT up.name, e.upstream_id, t.status, e.on_failure
  FROM oxpull_workflow_edge AS e INDEXED BY oxpull_workflow_edge_downstream
 CROSS JOIN oxpull_workflow_node AS up INDEXED BY sqlite_autoindex_oxpull_workflow_node_1 ON up.task_id = e.upstream_id
  LEFT JOIN oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1 ON t.id = e.upstream_id
 WHERE e.downstream_id = :task_id AND e.state IS NOT 'met'
 LIMIT :limit
