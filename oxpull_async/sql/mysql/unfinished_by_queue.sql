-- unfinished_by_queue: how many rows each queue has that are deferred, run or wait for a lock.
-- Of each kind `limit` rows are looked at.
SELECT d.queue_name, 'deferred', COUNT(*)
  FROM (SELECT t.queue_name, t.backend_alias FROM oxpull_task AS t FORCE INDEX (oxpull_task_deferred)
         WHERE t.deferred_until IS NOT NULL LIMIT :limit) AS d
 WHERE d.backend_alias = :backend_alias GROUP BY d.queue_name
UNION ALL
SELECT r.queue_name, 'running', COUNT(*)
  FROM (SELECT t.queue_name, t.backend_alias, t.status FROM oxpull_task AS t FORCE INDEX (oxpull_task_leased)
         WHERE t.leased_by IS NOT NULL LIMIT :limit) AS r
 WHERE r.backend_alias = :backend_alias AND r.status = 'RUNNING' GROUP BY r.queue_name
UNION ALL
SELECT w.queue_name, 'waiting', COUNT(*)
  FROM (SELECT t.queue_name, t.backend_alias FROM oxpull_task AS t FORCE INDEX (oxpull_task_lock)
         WHERE t.lock_state >= 'w' AND t.lock_state < 'x' LIMIT :limit) AS w
 WHERE w.backend_alias = :backend_alias GROUP BY w.queue_name
