-- delete_workflow_edges: delete the edges into the nodes of these workflows.
DELETE e
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_workflow_node AS n FORCE INDEX (oxpull_workflow_node_name) ON n.workflow_id = j.id
  STRAIGHT_JOIN oxpull_workflow_edge AS e FORCE INDEX (oxpull_workflow_edge_downstream) ON e.downstream_id = n.task_id
