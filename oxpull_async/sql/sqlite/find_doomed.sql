-- find_doomed: the nodes behind these that have not ended, through edges whose bad end discards, `limit` at most.
WITH RECURSIVE doomed(id) AS (
    SELECT e.downstream_id
      FROM json_each(:ids) AS j
     CROSS JOIN oxpull_workflow_edge AS e INDEXED BY sqlite_autoindex_oxpull_workflow_edge_1 ON e.upstream_id = j.value
     WHERE e.on_failure = 'discard'
    UNION
    SELECT e.downstream_id
      FROM doomed
     CROSS JOIN oxpull_workflow_node AS n INDEXED BY sqlite_autoindex_oxpull_workflow_node_1 ON n.task_id = doomed.id
     CROSS JOIN oxpull_workflow_edge AS e INDEXED BY sqlite_autoindex_oxpull_workflow_edge_1
        ON e.upstream_id = doomed.id
     WHERE n.counted IS NULL AND e.on_failure = 'discard'
)
SELECT doomed.id FROM doomed LIMIT :limit
