-- scan_nodes: the next nodes of a workflow by name: name, task, what it is counted as, its task's status (NULL: no
-- task), the recheck mark, and whether it waits although its edges say otherwise.
SELECT n.name, n.task_id, n.counted, t.status, n.recheck,
       CASE WHEN t.waiting_for = 'edges' AND NOT c.cancelled THEN
            n.unmet = 0
            OR EXISTS (SELECT 1 FROM oxpull_workflow_edge AS e INDEXED BY oxpull_workflow_edge_downstream
                        LEFT JOIN oxpull_workflow_node AS up ON up.task_id = e.upstream_id
                        WHERE e.downstream_id = n.task_id
                          AND (e.state = 'failed' AND c.status <> 'OPEN'
                               OR e.state IS NULL AND up.recheck IS NULL
                                  AND (up.counted = 'succeeded' OR up.counted IS NOT NULL AND c.status <> 'OPEN')))
            ELSE false END
  FROM oxpull_workflow_counts AS c
 CROSS JOIN oxpull_workflow_node AS n INDEXED BY oxpull_workflow_node_name ON n.workflow_id = c.workflow_id
  LEFT JOIN oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1 ON t.id = n.task_id
 WHERE c.workflow_id = :workflow_id AND n.name > COALESCE(:after, '')
 ORDER BY n.name LIMIT :limit
