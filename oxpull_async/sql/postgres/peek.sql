-- peek: which queues hold due rows, those with limit keys apart; and, as the row without a name, in how many seconds
-- the next deferred row is due, whether any due row has a running lock, and whether a worker declares a rate limit.
-- The recursions step from queue to queue through the ready indexes, so its cost is per queue and not per row.
WITH RECURSIVE ready(queue_name) AS (
    SELECT LEAST(
        (SELECT t.queue_name FROM oxpull_task t
          WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL
          ORDER BY t.queue_name LIMIT 1),
        (SELECT t.queue_name FROM oxpull_task t
          WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
          ORDER BY t.queue_name LIMIT 1))
    UNION ALL
    SELECT LEAST(
        (SELECT t.queue_name FROM oxpull_task t
          WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL
            AND t.queue_name > r.queue_name
          ORDER BY t.queue_name LIMIT 1),
        (SELECT t.queue_name FROM oxpull_task t
          WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
            AND t.queue_name > r.queue_name
          ORDER BY t.queue_name LIMIT 1))
      FROM ready r WHERE r.queue_name IS NOT NULL
), limited(queue_name) AS (
    (SELECT t.queue_name FROM oxpull_task t
      WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.limit_keys IS NOT NULL
      ORDER BY t.queue_name LIMIT 1)
    UNION ALL
    SELECT (SELECT t.queue_name FROM oxpull_task t
             WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.limit_keys IS NOT NULL
               AND t.queue_name > l.queue_name
             ORDER BY t.queue_name LIMIT 1)
      FROM limited l WHERE l.queue_name IS NOT NULL
)
SELECT r.queue_name, NULL::float8 AS due_in, NULL::boolean AS meets_locks, r.limited
  FROM (SELECT queue_name, false AS limited FROM ready UNION ALL SELECT queue_name, true FROM limited) AS r
 WHERE r.queue_name IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM oxpull_queue q
                    WHERE q.backend_alias = :backend_alias::text AND q.queue_name = r.queue_name AND q.paused)
UNION ALL
SELECT NULL, (SELECT EXTRACT(EPOCH FROM t.available_at - :now)::float8
                FROM oxpull_task t WHERE t.due = 0 ORDER BY t.available_at LIMIT 1),
       (SELECT t.queue_name FROM oxpull_task t
         WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
         ORDER BY t.queue_name LIMIT 1) IS NOT NULL,
       EXISTS (SELECT 1 FROM oxpull_rate_limit l WHERE l.backend_alias = :backend_alias::text)
