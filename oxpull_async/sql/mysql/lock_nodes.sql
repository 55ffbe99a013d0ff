-- lock_nodes: lock the node rows of these tasks in order: task, workflow, name, unmet edges, what it is counted as,
-- whether a cascade ended it, and the mark.
SELECT n.task_id, n.workflow_id, n.name, n.unmet, n.counted, n.cascaded, n.recheck
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_workflow_node AS n FORCE INDEX (PRIMARY) ON n.task_id = j.id
   FOR UPDATE
