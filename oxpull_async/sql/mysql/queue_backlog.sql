-- queue_backlog: the first queue after `after` that has due rows, how many up to `limit`, and the oldest's age in seconds.
SELECT n.queue_name,
       (SELECT COUNT(*) FROM (
            SELECT t.id FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
             WHERE t.due = 1 AND t.backend_alias = :backend_alias AND t.queue_name = (
                SELECT MIN(m.queue_name) FROM oxpull_task AS m FORCE INDEX (oxpull_task_ready)
                 WHERE m.due = 1 AND m.backend_alias = :backend_alias AND m.queue_name > :after)
             LIMIT :limit) AS c),
       (SELECT TIMESTAMPDIFF(MICROSECOND, MIN(t.available_at), :now) / 1000000
          FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
         WHERE t.due = 1 AND t.backend_alias = :backend_alias AND t.queue_name = n.queue_name)
  FROM (SELECT MIN(t.queue_name) AS queue_name FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
         WHERE t.due = 1 AND t.backend_alias = :backend_alias AND t.queue_name > :after) AS n
 WHERE n.queue_name IS NOT NULL
