-- prune_workflows_scan: the next workflows by id: whether each completed more than `age` seconds ago with no task of
-- it left, and its callbacks.
SELECT w.id,
       c.status = 'COMPLETE' AND c.completed_at < strftime('%Y-%m-%d %H:%M:%f', :now, -:age || ' seconds') || '000'
       AND (:backend_alias IS NULL OR w.backend_alias = :backend_alias)
       AND NOT EXISTS (SELECT 1 FROM oxpull_workflow_node AS n INDEXED BY oxpull_workflow_node_name
                        CROSS JOIN oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1 ON t.id = n.task_id
                        WHERE n.workflow_id = w.id),
       w.callbacks
  FROM oxpull_workflow AS w JOIN oxpull_workflow_counts AS c ON c.workflow_id = w.id
 WHERE w.id > COALESCE(:after, '')
 ORDER BY w.id LIMIT :limit
