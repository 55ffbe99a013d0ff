-- peek: which queues hold due rows, those with limit keys apart; and, as the row without a name, in how many seconds
-- the next deferred row is due, whether any due row has a running lock, and whether a worker declares a rate limit.
-- The recursions step from queue to queue through the ready indexes, so its cost is per queue and not per row.
SELECT due.queue_name, NULL AS due_in, NULL AS meets_locks, due.limited
  FROM (
    WITH RECURSIVE ready(queue_name) AS (
        SELECT ''
        UNION ALL
        SELECT (SELECT min(name) FROM (
            SELECT min(t.queue_name) AS name FROM oxpull_task AS t INDEXED BY oxpull_task_ready
             WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL
               AND t.queue_name > r.queue_name
            UNION ALL
            SELECT min(t.queue_name) FROM oxpull_task AS t INDEXED BY oxpull_task_ready_locked
             WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
               AND t.queue_name > r.queue_name))
          FROM ready r WHERE r.queue_name IS NOT NULL
    ), limited(queue_name) AS (
        SELECT ''
        UNION ALL
        SELECT (SELECT min(t.queue_name) FROM oxpull_task AS t INDEXED BY oxpull_task_limited
                 WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.limit_keys IS NOT NULL
                   AND t.queue_name > l.queue_name)
          FROM limited l WHERE l.queue_name IS NOT NULL
    )
    SELECT queue_name, false AS limited FROM ready WHERE queue_name <> ''
    UNION ALL
    SELECT queue_name, true FROM limited WHERE queue_name <> ''
  ) AS due
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_queue q
                    WHERE q.backend_alias = :backend_alias AND q.queue_name = due.queue_name AND q.paused)
UNION ALL
SELECT NULL, (SELECT (julianday(t.available_at) - julianday(:now)) * 86400.0
                FROM oxpull_task t WHERE t.due = 0 ORDER BY t.available_at LIMIT 1),
       EXISTS (SELECT 1 FROM oxpull_task AS t INDEXED BY oxpull_task_ready_locked
                WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL),
       EXISTS (SELECT 1 FROM oxpull_rate_limit AS l WHERE l.backend_alias = :backend_alias)
