-- insert_edges: store the edges into new nodes.
INSERT INTO oxpull_workflow_edge (upstream_id, downstream_id, on_failure, state)
SELECT n.upstream_id, n.downstream_id, n.on_failure, n.state
  FROM json_to_recordset(:edges::text::json) AS n(upstream_id uuid, downstream_id uuid, on_failure text, state text)
