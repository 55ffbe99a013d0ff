-- find_edges: edges out of these nodes that are not as they should be, `limit` at most: upstream, downstream, what
-- each should be and is, and the downstream's node row as `lock_nodes` gives it.
WITH n AS MATERIALIZED (
    SELECT * FROM json_to_recordset(:nodes::text::json) AS n(id uuid, on_discard text, on_run text)
)
SELECT e.upstream_id::text, e.downstream_id::text, CASE e.on_failure WHEN 'run' THEN n.on_run ELSE n.on_discard END,
       e.state, d.task_id::text, d.workflow_id::text, d.name, d.unmet, d.counted, d.cascaded, d.recheck
  FROM oxpull_workflow_edge e
  JOIN n ON n.id = e.upstream_id
  JOIN oxpull_workflow_node d ON d.task_id = e.downstream_id
 WHERE e.upstream_id = ANY(ARRAY(SELECT n.id FROM n))
   AND e.state IS DISTINCT FROM CASE e.on_failure WHEN 'run' THEN n.on_run ELSE n.on_discard END
 LIMIT (SELECT :limit::int)
