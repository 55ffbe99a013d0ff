-- delete_workflow_nodes: delete the node rows of these workflows.
DELETE x
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_workflow_node AS x FORCE INDEX (oxpull_workflow_node_name) ON x.workflow_id = j.id
