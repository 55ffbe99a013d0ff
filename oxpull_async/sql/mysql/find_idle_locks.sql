-- find_idle_locks: keys whose rows wait although slots are free and no row of the key is ready; and how many are free.
SELECT w.lock_key, LEAST(w.waiters, w.lock_limit - w.held)
  FROM (SELECT g.lock_key, g.lock_limit, g.waiters,
               (SELECT COUNT(*) FROM oxpull_task AS h FORCE INDEX (oxpull_task_lock)
                 WHERE h.lock_state = CONCAT('r', g.lock_key)) AS held
          FROM (SELECT t.lock_key, MAX(t.lock_limit) AS lock_limit, COUNT(*) AS waiters
                  FROM oxpull_task AS t FORCE INDEX (oxpull_task_lock)
                 WHERE t.lock_state >= 'w' AND t.lock_state < 'x' GROUP BY t.lock_key) AS g) AS w
 WHERE w.held < w.lock_limit
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS r FORCE INDEX (oxpull_task_lock)
                    WHERE r.lock_state = CONCAT('d', w.lock_key))
 ORDER BY w.lock_key LIMIT :limit
