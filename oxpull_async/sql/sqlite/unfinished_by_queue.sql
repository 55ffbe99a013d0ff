-- unfinished_by_queue: how many rows each queue has that are deferred, run or wait for a lock.
-- Of each kind `limit` rows are looked at.
SELECT l.queue_name, 'deferred', count(*)
  FROM (SELECT t.queue_name, t.backend_alias FROM oxpull_task AS t INDEXED BY oxpull_task_deferred
         WHERE t.due = 0 LIMIT :limit) AS l
 WHERE l.backend_alias = :backend_alias GROUP BY l.queue_name
UNION ALL
SELECT r.queue_name, 'running', count(*)
  FROM (SELECT t.queue_name, t.backend_alias, t.status FROM oxpull_task AS t INDEXED BY oxpull_task_leased
         WHERE t.leased_by IS NOT NULL LIMIT :limit) AS r
 WHERE r.backend_alias = :backend_alias AND r.status = 'RUNNING' GROUP BY r.queue_name
UNION ALL
SELECT w.queue_name, 'waiting', count(*)
  FROM (SELECT t.queue_name, t.backend_alias FROM oxpull_task AS t INDEXED BY oxpull_task_lock_waiting
         WHERE t.waiting_for = 'lock' LIMIT :limit) AS w
 WHERE w.backend_alias = :backend_alias GROUP BY w.queue_name
