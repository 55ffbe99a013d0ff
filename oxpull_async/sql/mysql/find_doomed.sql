-- find_doomed: the nodes behind these that have not ended, through edges whose bad end discards, `limit` at most.
WITH RECURSIVE doomed(id) AS (
    SELECT e.downstream_id
      FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
      STRAIGHT_JOIN oxpull_workflow_edge AS e FORCE INDEX (PRIMARY) ON e.upstream_id = j.id
     WHERE e.on_failure = 'discard'
    UNION
    SELECT e.downstream_id
      FROM doomed
      STRAIGHT_JOIN oxpull_workflow_node AS n FORCE INDEX (PRIMARY) ON n.task_id = doomed.id
      STRAIGHT_JOIN oxpull_workflow_edge AS e FORCE INDEX (PRIMARY) ON e.upstream_id = doomed.id
     WHERE n.counted IS NULL AND e.on_failure = 'discard'
)
SELECT doomed.id FROM doomed LIMIT :limit
