-- prune_workflows_scan: the next workflows by id: whether each completed more than `age` seconds ago, whether a task of it is
-- left, and its callbacks. Rows of other tables are looked up one by one, so that no plan joins whole tables.
SELECT w.id,
       (SELECT c.status = 'COMPLETE' AND c.completed_at < :now - INTERVAL ROUND(:age * 1000000) MICROSECOND
          FROM oxpull_workflow_counts AS c WHERE c.workflow_id = w.id)
       AND (:backend_alias IS NULL OR w.backend_alias = :backend_alias),
       (SELECT n.task_id FROM oxpull_workflow_node AS n FORCE INDEX (oxpull_workflow_node_name)
         WHERE n.workflow_id = w.id AND (SELECT t.id FROM oxpull_task AS t WHERE t.id = n.task_id) IS NOT NULL
         LIMIT 1) IS NOT NULL,
       w.callbacks
  FROM oxpull_workflow AS w FORCE INDEX (PRIMARY)
 WHERE :after IS NULL OR w.id > :after
 ORDER BY w.id LIMIT :limit
