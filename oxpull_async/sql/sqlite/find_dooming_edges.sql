-- find_dooming_edges: edges into these nodes whose bad end discards them: upstream, downstream, and what the upstream
-- is counted as; where its node is gone, the edge's state.
SELECT e.upstream_id, e.downstream_id, CASE WHEN up.task_id IS NULL THEN e.state ELSE up.counted END
  FROM json_each(:ids) AS j
 CROSS JOIN oxpull_workflow_edge AS e INDEXED BY oxpull_workflow_edge_downstream ON e.downstream_id = j.value
  LEFT JOIN oxpull_workflow_node AS up INDEXED BY sqlite_autoindex_oxpull_workflow_node_1
    ON up.task_id = e.upstream_id
 WHERE e.on_failure = 'discard'
