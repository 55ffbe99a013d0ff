-- find_startable: a row iff one of the best due rows with a running lock, `limit` of each queue, finds a slot free now.
-- It locks nothing: whether a row may start is decided by the claim that holds the key's lock row.
SELECT met.lock_key
  FROM (SELECT best.lock_key, max(best.lock_limit) AS lock_limit
          FROM jsonb_array_elements_text(:queues::text::jsonb) AS q(queue_name)
         CROSS JOIN LATERAL (
            SELECT t.lock_key, t.lock_limit FROM oxpull_task t
             WHERE t.backend_alias = :backend_alias::text AND t.queue_name = q.queue_name AND t.due = 1
               AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
               AND NOT (SELECT :excluded_paths::text::jsonb || COALESCE(jsonb_agg(x.path), '[]')
                          FROM oxpull_rate_limit l CROSS JOIN LATERAL jsonb_array_elements(l.tasks) AS x(path)
                         WHERE l.backend_alias = :backend_alias::text) ? t.task_path
             ORDER BY t."rank", t.available_at, t.id LIMIT (SELECT :limit::int)) AS best
         WHERE NOT EXISTS (SELECT 1 FROM oxpull_queue p
                            WHERE p.backend_alias = :backend_alias::text AND p.queue_name = q.queue_name AND p.paused)
           AND NOT EXISTS (SELECT 1 FROM oxpull_rate_limit l
                            WHERE l.backend_alias = :backend_alias::text AND l.queues ? q.queue_name)
         GROUP BY best.lock_key) AS met
 WHERE met.lock_limit > (SELECT count(*) FROM oxpull_task h
                        WHERE h.lock_key = met.lock_key AND h.lock_key IS NOT NULL AND h.leased_by IS NOT NULL)
 LIMIT 1
