-- find_edges: edges out of these nodes that are not as they should be, `limit` at most: upstream, downstream, what
-- each should be and is, and the downstream's node row as `lock_nodes` gives it.
SELECT e.upstream_id, e.downstream_id, CASE e.on_failure WHEN 'run' THEN n.on_run ELSE n.on_discard END,
       e.state, b.task_id, b.workflow_id, b.name, b.unmet, b.counted, b.cascaded, b.recheck
  FROM (SELECT json_extract(j.value, '$.id') AS id, json_extract(j.value, '$.on_discard') AS on_discard,
               json_extract(j.value, '$.on_run') AS on_run
          FROM json_each(:nodes) AS j) AS n
 CROSS JOIN oxpull_workflow_edge AS e INDEXED BY sqlite_autoindex_oxpull_workflow_edge_1 ON e.upstream_id = n.id
 CROSS JOIN oxpull_workflow_node AS b INDEXED BY sqlite_autoindex_oxpull_workflow_node_1 ON b.task_id = e.downstream_id
 WHERE e.state IS NOT CASE e.on_failure WHEN 'run' THEN n.on_run ELSE n.on_discard END
 LIMIT :limit
