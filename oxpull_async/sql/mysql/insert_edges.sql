-- insert_edges: store the edges into new nodes.
INSERT INTO oxpull_workflow_edge (upstream_id, downstream_id, on_failure, state)
SELECT n.upstream_id, n.downstream_id, n.on_failure, n.state
  FROM JSON_TABLE(:edges, '$[*]' COLUMNS (
            upstream_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.upstream_id' ERROR ON ERROR,
            downstream_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.downstream_id' ERROR ON ERROR,
            on_failure VARCHAR(8) CHARACTER SET utf8mb4 PATH '$.on_failure' ERROR ON ERROR,
            state VARCHAR(8) CHARACTER SET utf8mb4 PATH '$.state' ERROR ON ERROR)) AS n
