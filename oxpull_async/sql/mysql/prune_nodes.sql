-- prune_nodes: delete the node rows of tasks that have been pruned.
DELETE n
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_workflow_node AS n FORCE INDEX (PRIMARY) ON n.task_id = j.id
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_task AS t WHERE t.id = n.task_id)
