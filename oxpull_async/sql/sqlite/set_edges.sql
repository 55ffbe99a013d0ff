-- set_edges: write the states of edges, known under the lock of their workflow's counts.
UPDATE oxpull_workflow_edge AS e INDEXED BY sqlite_autoindex_oxpull_workflow_edge_1
   SET state = n.state
  FROM (WITH given AS MATERIALIZED (
            SELECT json_extract(j.value, '$.upstream_id') AS upstream_id,
                   json_extract(j.value, '$.downstream_id') AS downstream_id, json_extract(j.value, '$.state') AS state
              FROM json_each(:edges) AS j)
        SELECT * FROM given) AS n
 WHERE e.upstream_id = n.upstream_id AND e.downstream_id = n.downstream_id
