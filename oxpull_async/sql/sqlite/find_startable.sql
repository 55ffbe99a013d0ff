-- find_startable: a row iff one of the best due rows with a running lock, `limit` of each queue, finds a slot free now.
-- Whether a row may start is decided by the claim, in the write transaction.
SELECT met.lock_key
  FROM (SELECT best.lock_key, max(best.lock_limit) AS lock_limit
          FROM json_each(:queues) AS q
         CROSS JOIN oxpull_task AS best INDEXED BY sqlite_autoindex_oxpull_task_1
         WHERE best.id IN (
            SELECT t.id FROM oxpull_task AS t INDEXED BY oxpull_task_ready_locked
             WHERE t.backend_alias = :backend_alias AND t.queue_name = q.value AND t.due = 1
               AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
               AND t.task_path NOT IN (
                   SELECT value FROM json_each(:excluded_paths)
                   UNION ALL
                   SELECT x.value FROM oxpull_rate_limit AS l CROSS JOIN json_each(l.tasks) AS x
                    WHERE l.backend_alias = :backend_alias)
             ORDER BY t."rank", t.available_at, t.id
             LIMIT :limit)
           AND NOT EXISTS (SELECT 1 FROM oxpull_queue p
                            WHERE p.backend_alias = :backend_alias AND p.queue_name = q.value AND p.paused)
           AND NOT EXISTS (SELECT 1 FROM oxpull_rate_limit AS l CROSS JOIN json_each(l.queues) AS x
                            WHERE l.backend_alias = :backend_alias AND x.value = q.value)
         GROUP BY best.lock_key) AS met
 WHERE met.lock_limit > (SELECT count(*) FROM oxpull_task AS h INDEXED BY oxpull_task_lock_running
                        WHERE h.lock_key = met.lock_key AND h.leased_by IS NOT NULL)
 LIMIT 1
