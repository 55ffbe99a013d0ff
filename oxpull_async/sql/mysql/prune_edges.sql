-- prune_edges: delete the edges into tasks that have been pruned.
DELETE e
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_workflow_edge AS e FORCE INDEX (oxpull_workflow_edge_downstream) ON e.downstream_id = j.id
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_task AS t WHERE t.id = e.downstream_id)
