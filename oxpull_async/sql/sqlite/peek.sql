-- peek: which queues hold due rows, and, as the row without a name, in how many seconds the next deferred
-- row is due and whether any due row has a running lock.
-- The recursion steps from queue to queue through the ready indexes, so its cost is per queue and not per row.
SELECT due.queue_name, NULL AS due_in, NULL AS meets_locks
  FROM (
    WITH RECURSIVE ready(queue_name) AS (
        SELECT ''
        UNION ALL
        SELECT (SELECT min(name) FROM (
            SELECT min(t.queue_name) AS name FROM oxpull_task AS t INDEXED BY oxpull_task_ready
             WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NULL
               AND t.queue_name > r.queue_name
            UNION ALL
            SELECT min(t.queue_name) FROM oxpull_task AS t INDEXED BY oxpull_task_ready_locked
             WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NOT NULL
               AND t.queue_name > r.queue_name))
          FROM ready r WHERE r.queue_name IS NOT NULL
    )
    SELECT queue_name FROM ready WHERE queue_name <> ''
  ) AS due
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_queue q
                    WHERE q.backend_alias = :backend_alias AND q.queue_name = due.queue_name AND q.paused)
UNION ALL
SELECT NULL, (SELECT (julianday(t.available_at) - julianday(:now)) * 86400.0
                FROM oxpull_task t WHERE t.due = 0 ORDER BY t.available_at LIMIT 1),
       EXISTS (SELECT 1 FROM oxpull_task AS t INDEXED BY oxpull_task_ready_locked
                WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NOT NULL)
