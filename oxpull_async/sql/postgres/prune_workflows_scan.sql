-- prune_workflows_scan: the next workflows by id: whether each completed more than `age` seconds ago, whether a task of it is
-- left, and its callbacks. Rows of other tables are looked up one by one, so that no plan joins whole tables.
SELECT w.id::text,
       (SELECT c.status = 'COMPLETE' AND c.completed_at < :now - make_interval(secs => :age::float8)
          FROM oxpull_workflow_counts c WHERE c.workflow_id = w.id)
       AND (:backend_alias::text IS NULL OR w.backend_alias = :backend_alias::text),
       (SELECT n.task_id FROM oxpull_workflow_node n
         WHERE n.workflow_id = w.id AND (SELECT t.id FROM oxpull_task t WHERE t.id = n.task_id) IS NOT NULL
         LIMIT 1) IS NOT NULL,
       w.callbacks::text
  FROM oxpull_workflow w
 WHERE w.id > COALESCE(:after::text, '00000000000000000000000000000000')::uuid
 ORDER BY w.id LIMIT (SELECT :limit::int)
