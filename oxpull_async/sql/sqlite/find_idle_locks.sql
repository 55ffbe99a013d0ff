-- find_idle_locks: keys with free slots that have, in some queue, rows that wait and none that is ready; how many are free.
-- A ready row with limit keys may be held up by its limits, so it counts for none.
SELECT w.lock_key, max(min(w.waiters, w.lock_limit - w.held))
  FROM (SELECT t.lock_key, t.backend_alias, t.queue_name, max(t.lock_limit) AS lock_limit, count(*) AS waiters,
               (SELECT count(*) FROM oxpull_task AS h INDEXED BY oxpull_task_lock_running
                 WHERE h.lock_key = t.lock_key AND h.leased_by IS NOT NULL) AS held
          FROM oxpull_task AS t INDEXED BY oxpull_task_lock_waiting
         WHERE t.waiting_for = 'lock' GROUP BY t.lock_key, t.backend_alias, t.queue_name) AS w
 WHERE w.held < w.lock_limit
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS r INDEXED BY oxpull_task_lock_ready
                    WHERE r.lock_key = w.lock_key AND r.limit_keys IS NULL AND r.due = 1
                      AND r.backend_alias = w.backend_alias AND r.queue_name = w.queue_name)
 GROUP BY w.lock_key LIMIT :limit
