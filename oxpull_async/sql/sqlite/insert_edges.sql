-- insert_edges: store the edges into new nodes.
INSERT INTO oxpull_workflow_edge (upstream_id, downstream_id, on_failure, state)
SELECT json_extract(n.value, '$.upstream_id'), json_extract(n.value, '$.downstream_id'),
       json_extract(n.value, '$.on_failure'), json_extract(n.value, '$.state')
  FROM json_each(:edges) AS n
