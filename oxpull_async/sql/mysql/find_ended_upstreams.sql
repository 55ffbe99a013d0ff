-- find_ended_upstreams: ended nodes from which open edges lead to these nodes, as `lock_nodes` gives them.
SELECT up.task_id, up.workflow_id, up.name, up.unmet, up.counted, up.cascaded, up.recheck
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_workflow_edge AS e FORCE INDEX (oxpull_workflow_edge_downstream) ON e.downstream_id = j.id
  STRAIGHT_JOIN oxpull_workflow_node AS up FORCE INDEX (PRIMARY) ON up.task_id = e.upstream_id
 WHERE e.state IS NULL AND up.counted IS NOT NULL
