-- find_dooming_edges: edges into these nodes whose bad end discards them: upstream, downstream, and what the upstream
-- is counted as; where its node is gone, the edge's state.
SELECT e.upstream_id, e.downstream_id, IF(up.task_id IS NULL, e.state, up.counted)
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_workflow_edge AS e FORCE INDEX (oxpull_workflow_edge_downstream) ON e.downstream_id = j.id
  LEFT JOIN oxpull_workflow_node AS up FORCE INDEX (PRIMARY) ON up.task_id = e.upstream_id
 WHERE e.on_failure = 'discard'
