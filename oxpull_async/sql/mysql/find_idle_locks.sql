-- find_idle_locks: keys with free slots that have, in some queue, rows that wait and none that is ready; how many are free.
-- A ready row with limit keys may be held up by its limits, so it counts for none.
SELECT w.lock_key, MAX(LEAST(w.waiters, w.lock_limit - w.held))
  FROM (SELECT g.lock_key, g.backend_alias, g.queue_name, g.lock_limit, g.waiters,
               (SELECT COUNT(*) FROM oxpull_task AS h FORCE INDEX (oxpull_task_lock)
                 WHERE h.lock_state = CONCAT('r', g.lock_key)) AS held
          FROM (SELECT t.lock_key, t.backend_alias, t.queue_name, MAX(t.lock_limit) AS lock_limit, COUNT(*) AS waiters
                  FROM oxpull_task AS t FORCE INDEX (oxpull_task_lock)
                 WHERE t.lock_state >= 'w' AND t.lock_state < 'x'
                 GROUP BY t.lock_key, t.backend_alias, t.queue_name) AS g) AS w
 WHERE w.held < w.lock_limit
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS r FORCE INDEX (oxpull_task_lock)
                    WHERE r.lock_state = CONCAT('d', w.lock_key)
                      AND r.backend_alias = w.backend_alias AND r.queue_name = w.queue_name)
 GROUP BY w.lock_key ORDER BY w.lock_key LIMIT :limit
