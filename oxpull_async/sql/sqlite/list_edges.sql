-- list_edges: the edges of a workflow: downstream task, upstream's name, and what its bad end does.
SELECT e.downstream_id, up.name, e.on_failure
  FROM oxpull_workflow_node AS up INDEXED BY oxpull_workflow_node_name
 CROSS JOIN oxpull_workflow_edge AS e INDEXED BY sqlite_autoindex_oxpull_workflow_edge_1 ON e.upstream_id = up.task_id
 WHERE up.workflow_id = :workflow_id
