-- unfinished_by_queue: how many rows each queue has that are deferred, run or wait for a lock.
-- Of each kind `limit` rows are looked at. A LIMIT that the planner cannot see keeps the order of the small indexes.
SELECT d.queue_name, 'deferred', count(*)
  FROM (SELECT t.queue_name, t.backend_alias FROM oxpull_task t
         WHERE t.due = 0 ORDER BY t.available_at LIMIT (SELECT :limit::int)) AS d
 WHERE d.backend_alias = :backend_alias::text GROUP BY d.queue_name
UNION ALL
SELECT r.queue_name, 'running', count(*)
  FROM (SELECT t.queue_name, t.backend_alias, t.status FROM oxpull_task t
         WHERE t.leased_by IS NOT NULL ORDER BY t.leased_by LIMIT (SELECT :limit::int)) AS r
 WHERE r.backend_alias = :backend_alias::text AND r.status = 'RUNNING' GROUP BY r.queue_name
UNION ALL
SELECT w.queue_name, 'waiting', count(*)
  FROM (SELECT t.queue_name, t.backend_alias FROM oxpull_task t
         WHERE t.waiting_for = 'lock' ORDER BY t.lock_key LIMIT (SELECT :limit::int)) AS w
 WHERE w.backend_alias = :backend_alias::text GROUP BY w.queue_name
