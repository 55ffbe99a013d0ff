-- find_nodes: those of these tasks that are nodes: task, workflow and name.
SELECT n.task_id, n.workflow_id, n.name
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_workflow_node AS n FORCE INDEX (PRIMARY) ON n.task_id = j.id
