-- set_edges: write the states of edges, known under the lock of their workflow's counts.
WITH n AS MATERIALIZED (
    SELECT * FROM json_to_recordset(:edges::text::json) AS n(upstream_id uuid, downstream_id uuid, state text)
)
UPDATE oxpull_workflow_edge AS e SET state = n.state
  FROM n
 WHERE e.upstream_id = ANY(ARRAY(SELECT n.upstream_id FROM n))
   AND e.upstream_id = n.upstream_id AND e.downstream_id = n.downstream_id
