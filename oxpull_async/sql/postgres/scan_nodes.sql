-- scan_nodes: the next nodes of a workflow by name: name, task, what it is counted as, its task's status (NULL: no
-- task), the recheck mark, and whether it waits although its edges say otherwise.
SELECT n.name, n.task_id::text, n.counted, t.status, n.recheck,
       CASE WHEN t.waiting_for = 'edges' AND NOT c.cancelled THEN
            n.unmet = 0
            OR EXISTS (SELECT 1 FROM oxpull_workflow_edge e
                        LEFT JOIN oxpull_workflow_node up ON up.task_id = e.upstream_id
                        WHERE e.downstream_id = n.task_id
                          AND (e.state = 'failed' AND c.status <> 'OPEN'
                               OR e.state IS NULL AND up.recheck IS NULL
                                  AND (up.counted = 'succeeded' OR up.counted IS NOT NULL AND c.status <> 'OPEN')))
            ELSE false END
  FROM oxpull_workflow_node n
  JOIN oxpull_workflow_counts c ON c.workflow_id = n.workflow_id
  LEFT JOIN oxpull_task t ON t.id = n.task_id
 WHERE n.workflow_id = :workflow_id::text::uuid AND n.name > COALESCE(:after::text, '')
 ORDER BY n.workflow_id, n.name LIMIT (SELECT :limit::int)
