-- prune_workflows_scan: the next workflows by id: whether each completed more than `age` seconds ago with no task of
-- it left, and its callbacks.
SELECT w.id,
       c.status = 'COMPLETE' AND c.completed_at < :now - INTERVAL ROUND(:age * 1000000) MICROSECOND
       AND (:backend_alias IS NULL OR w.backend_alias = :backend_alias)
       AND NOT EXISTS (SELECT 1 FROM oxpull_workflow_node AS n JOIN oxpull_task AS t ON t.id = n.task_id
                        WHERE n.workflow_id = w.id),
       w.callbacks
  FROM oxpull_workflow AS w FORCE INDEX (PRIMARY) JOIN oxpull_workflow_counts AS c ON c.workflow_id = w.id
 WHERE :after IS NULL OR w.id > :after
 ORDER BY w.id LIMIT :limit
