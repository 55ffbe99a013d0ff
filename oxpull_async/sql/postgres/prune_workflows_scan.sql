-- prune_workflows_scan: the next workflows by id: whether each completed more than `age` seconds ago with no task of
-- it left, and its callbacks.
SELECT w.id::text,
       c.status = 'COMPLETE' AND c.completed_at < :now - make_interval(secs => :age::float8)
       AND (:backend_alias::text IS NULL OR w.backend_alias = :backend_alias::text)
       AND NOT EXISTS (SELECT 1 FROM oxpull_workflow_node n JOIN oxpull_task t ON t.id = n.task_id
                        WHERE n.workflow_id = w.id),
       w.callbacks::text
  FROM oxpull_workflow w JOIN oxpull_workflow_counts c ON c.workflow_id = w.id
 WHERE w.id > COALESCE(:after::text, '00000000000000000000000000000000')::uuid
 ORDER BY w.id LIMIT (SELECT :limit::int)
