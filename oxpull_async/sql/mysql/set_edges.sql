-- set_edges: write the states of edges, known under the lock of their workflow's counts.
UPDATE JSON_TABLE(:edges, '$[*]' COLUMNS (
            upstream_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.upstream_id' ERROR ON ERROR,
            downstream_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.downstream_id' ERROR ON ERROR,
            state VARCHAR(8) CHARACTER SET utf8mb4 PATH '$.state' ERROR ON ERROR)) AS n
  STRAIGHT_JOIN oxpull_workflow_edge AS e FORCE INDEX (PRIMARY)
     ON e.upstream_id = n.upstream_id AND e.downstream_id = n.downstream_id
   SET e.state = n.state
