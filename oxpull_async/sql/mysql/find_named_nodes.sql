-- find_named_nodes: those of these names that nodes of a workflow have: name, task, and what it is counted as.
SELECT n.name, n.task_id, n.counted
  FROM JSON_TABLE(:names, '$[*]' COLUMNS (name VARCHAR(128) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_workflow_node AS n FORCE INDEX (oxpull_workflow_node_name)
     ON n.workflow_id = :workflow_id AND n.name = j.name
