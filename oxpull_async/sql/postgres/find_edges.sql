-- find_edges: edges out of these nodes that are not as they should be, `limit` at most: upstream, downstream, what
-- each should be and is, and the downstream's node row as `lock_nodes` gives it.
-- LATERAL with OFFSET 0: row by row through the primary keys, whatever the statistics say.
SELECT e.upstream_id::text, e.downstream_id::text, CASE e.on_failure WHEN 'run' THEN n.on_run ELSE n.on_discard END,
       e.state, b.task_id::text, b.workflow_id::text, b.name, b.unmet, b.counted, b.cascaded, b.recheck
  FROM json_to_recordset(:nodes::text::json) AS n(id uuid, on_discard text, on_run text)
 CROSS JOIN LATERAL (SELECT * FROM oxpull_workflow_edge f WHERE f.upstream_id = n.id OFFSET 0) AS e
 CROSS JOIN LATERAL (SELECT * FROM oxpull_workflow_node m WHERE m.task_id = e.downstream_id OFFSET 0) AS b
 WHERE e.state IS DISTINCT FROM CASE e.on_failure WHEN 'run' THEN n.on_run ELSE n.on_discard END
 LIMIT (SELECT :limit::int)
