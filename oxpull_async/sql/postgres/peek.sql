-- peek: which queues hold due rows, and, as the row without a name, in how many seconds the next deferred
-- row is due and whether any due row has a running lock.
-- The recursion steps from queue to queue through the ready indexes, so its cost is per queue and not per row.
WITH RECURSIVE ready(queue_name) AS (
    SELECT LEAST(
        (SELECT t.queue_name FROM oxpull_task t
          WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NULL
          ORDER BY t.queue_name LIMIT 1),
        (SELECT t.queue_name FROM oxpull_task t
          WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NOT NULL
          ORDER BY t.queue_name LIMIT 1))
    UNION ALL
    SELECT LEAST(
        (SELECT t.queue_name FROM oxpull_task t
          WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NULL
            AND t.queue_name > r.queue_name
          ORDER BY t.queue_name LIMIT 1),
        (SELECT t.queue_name FROM oxpull_task t
          WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NOT NULL
            AND t.queue_name > r.queue_name
          ORDER BY t.queue_name LIMIT 1))
      FROM ready r WHERE r.queue_name IS NOT NULL
)
SELECT r.queue_name, NULL::float8 AS due_in, NULL::boolean AS meets_locks FROM ready r
 WHERE r.queue_name IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM oxpull_queue q
                    WHERE q.backend_alias = :backend_alias::text AND q.queue_name = r.queue_name AND q.paused)
UNION ALL
SELECT NULL, (SELECT EXTRACT(EPOCH FROM t.available_at - :now)::float8
                FROM oxpull_task t WHERE t.due = 0 ORDER BY t.available_at LIMIT 1),
       (SELECT t.queue_name FROM oxpull_task t
         WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NOT NULL
         ORDER BY t.queue_name LIMIT 1) IS NOT NULL
