-- find_startable: a row iff one of the best `limit` due rows of one queue with a running lock finds a slot free now.
-- It locks nothing: whether a row may start is decided by the claim that holds the key's lock row.
SELECT met.lock_key
  FROM (SELECT best.lock_key, MAX(best.lock_limit) AS lock_limit
          FROM (SELECT t.lock_key, t.lock_limit
                  FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
                 WHERE t.ready_lane = 2 AND t.backend_alias = :backend_alias AND t.queue_name = :queue_name
   AND t.limit_lane IS NULL AND t.limit_keys IS NULL
                   AND NOT JSON_CONTAINS(:excluded_paths, JSON_QUOTE(t.task_path))
                   AND NOT EXISTS (SELECT 1 FROM oxpull_queue AS p
                                    WHERE p.backend_alias = :backend_alias AND p.queue_name = :queue_name AND p.paused)
                   AND NOT EXISTS (SELECT 1 FROM oxpull_rate_limit AS l
                                    WHERE l.backend_alias = :backend_alias
                                      AND (JSON_CONTAINS(l.queues, JSON_QUOTE(:queue_name))
                                           OR JSON_CONTAINS(l.tasks, JSON_QUOTE(t.task_path))))
                 ORDER BY t.`rank`, t.available_at, t.id
                 LIMIT :limit) AS best
         GROUP BY best.lock_key) AS met
 WHERE met.lock_limit > (SELECT COUNT(*) FROM oxpull_task AS h FORCE INDEX (oxpull_task_lock)
                        WHERE h.lock_state = CONCAT('r', met.lock_key))
 LIMIT 1
