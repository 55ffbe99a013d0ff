-- find_edges: lock edges out of these nodes that are not as they should be, `limit` at most: upstream, downstream,
-- what each should be and is, and the downstream's node row as `lock_nodes` gives it. Whoever changes edges holds the
-- workflow's counts, so what is locked here is what an `add` has not committed: its own mark has it looked at later.
SELECT e.upstream_id, e.downstream_id, IF(e.on_failure = 'run', n.on_run, n.on_discard),
       e.state, b.task_id, b.workflow_id, b.name, b.unmet, b.counted, b.cascaded, b.recheck
  FROM JSON_TABLE(:nodes, '$[*]' COLUMNS (
            id CHAR(32) CHARACTER SET utf8mb4 PATH '$.id' ERROR ON ERROR,
            on_discard VARCHAR(8) CHARACTER SET utf8mb4 PATH '$.on_discard' ERROR ON ERROR,
            on_run VARCHAR(8) CHARACTER SET utf8mb4 PATH '$.on_run' ERROR ON ERROR)) AS n
  STRAIGHT_JOIN oxpull_workflow_edge AS e FORCE INDEX (PRIMARY) ON e.upstream_id = n.id
  STRAIGHT_JOIN oxpull_workflow_node AS b FORCE INDEX (PRIMARY) ON b.task_id = e.downstream_id
 WHERE NOT e.state <=> IF(e.on_failure = 'run', n.on_run, n.on_discard)
 LIMIT :limit FOR UPDATE SKIP LOCKED
