-- peek: which queues hold due rows, and, as the row without a name, in how many seconds the next deferred row is due.
-- The inner SELECT names every leading column of the ready index, so that it steps from queue to queue.
SELECT r.queue_name, NULL AS due_in
  FROM (SELECT DISTINCT t.due, t.backend_alias, t.queue_name
          FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
         WHERE t.due = 1 AND t.backend_alias = :backend_alias) AS r
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_queue AS q
                    WHERE q.backend_alias = :backend_alias AND q.queue_name = r.queue_name AND q.paused)
UNION ALL
SELECT NULL, TIMESTAMPDIFF(MICROSECOND, :now, (SELECT MIN(d.deferred_until) FROM oxpull_task AS d)) / 1000000
