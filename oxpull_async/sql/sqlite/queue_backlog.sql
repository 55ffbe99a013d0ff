-- queue_backlog: the first queue after `after` that has due rows, how many up to `limit`, and the oldest's age in seconds.
-- Rows that rate limits may hold up are counted, but their age is not.
SELECT n.queue_name,
       min(:limit,
           (SELECT count(*) FROM (
                SELECT 1 FROM oxpull_task AS t INDEXED BY oxpull_task_ready
                 WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL
                   AND t.queue_name = n.queue_name LIMIT :limit))
         + (SELECT count(*) FROM (
                SELECT 1 FROM oxpull_task AS t INDEXED BY oxpull_task_ready_locked
                 WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
                   AND t.queue_name = n.queue_name LIMIT :limit))
         + (SELECT count(*) FROM (
                SELECT 1 FROM oxpull_task AS t INDEXED BY oxpull_task_limited
                 WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.limit_keys IS NOT NULL
                   AND t.queue_name = n.queue_name LIMIT :limit))),
       (SELECT COALESCE((julianday(:now) - julianday(min(m.oldest))) * 86400.0, 0.0)
          FROM (SELECT min(t.available_at) AS oldest FROM oxpull_task AS t INDEXED BY oxpull_task_ready
                 WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL
                   AND t.queue_name = n.queue_name
                UNION ALL
                SELECT min(t.available_at) FROM oxpull_task AS t INDEXED BY oxpull_task_ready_locked
                 WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
                   AND t.queue_name = n.queue_name) AS m)
  FROM (SELECT min(m.first) AS queue_name
          FROM (SELECT min(t.queue_name) AS first FROM oxpull_task AS t INDEXED BY oxpull_task_ready
                 WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL
                   AND t.queue_name > :after
                UNION ALL
                SELECT min(t.queue_name) FROM oxpull_task AS t INDEXED BY oxpull_task_ready_locked
                 WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
                   AND t.queue_name > :after
                UNION ALL
                SELECT min(t.queue_name) FROM oxpull_task AS t INDEXED BY oxpull_task_limited
                 WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.limit_keys IS NOT NULL
                   AND t.queue_name > :after) AS m) AS n
 WHERE n.queue_name IS NOT NULL
