-- find_ended_upstreams: ended nodes from which open edges lead to these nodes, as `lock_nodes` gives them.
SELECT up.task_id, up.workflow_id, up.name, up.unmet, up.counted, up.cascaded, up.recheck
  FROM json_each(:ids) AS j
 CROSS JOIN oxpull_workflow_edge AS e INDEXED BY oxpull_workflow_edge_downstream ON e.downstream_id = j.value
 CROSS JOIN oxpull_workflow_node AS up INDEXED BY sqlite_autoindex_oxpull_workflow_node_1 ON up.task_id = e.upstream_id
 WHERE e.state IS NULL AND up.counted IS NOT NULL
