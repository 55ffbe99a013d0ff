-- queue_backlog: the first queue after `after` that has due rows, how many up to `limit`, and the oldest's age in seconds.
SELECT n.queue_name,
       (SELECT count(*) FROM (
            SELECT 1 FROM oxpull_task AS t INDEXED BY oxpull_task_ready
             WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.queue_name = n.queue_name LIMIT :limit)),
       (SELECT (julianday(:now) - julianday(min(t.available_at))) * 86400.0
          FROM oxpull_task AS t INDEXED BY oxpull_task_ready
         WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.queue_name = n.queue_name)
  FROM (SELECT min(t.queue_name) AS queue_name FROM oxpull_task AS t INDEXED BY oxpull_task_ready
         WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.queue_name > :after) AS n
 WHERE n.queue_name IS NOT NULL
