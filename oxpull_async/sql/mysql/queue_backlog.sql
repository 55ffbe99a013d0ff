-- queue_backlog: the first queue after `after` that has due rows, how many up to `limit`, and the oldest's age in seconds.
-- Rows that rate limits may hold up are counted, but their age is not.
SELECT n.queue_name,
       (SELECT COUNT(*) FROM (
            SELECT t.id FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
             WHERE t.ready_lane IN (1, 2, 3) AND t.backend_alias = :backend_alias AND t.queue_name = (
                SELECT MIN(m.first) FROM (
                    SELECT MIN(t.queue_name) AS first FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
                     WHERE t.ready_lane = 1 AND t.backend_alias = :backend_alias AND t.queue_name > :after
                    UNION ALL
                    SELECT MIN(t.queue_name) FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
                     WHERE t.ready_lane = 2 AND t.backend_alias = :backend_alias AND t.queue_name > :after
                    UNION ALL
                    SELECT MIN(t.queue_name) FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
                     WHERE t.ready_lane = 3 AND t.backend_alias = :backend_alias AND t.queue_name > :after) AS m)
             LIMIT :limit) AS c),
       (SELECT COALESCE(TIMESTAMPDIFF(MICROSECOND, MIN(t.available_at), :now) / 1000000, 0)
          FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
         WHERE t.ready_lane IN (1, 2) AND t.backend_alias = :backend_alias AND t.queue_name = n.queue_name)
  FROM (SELECT MIN(m.first) AS queue_name FROM (
            SELECT MIN(t.queue_name) AS first FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
             WHERE t.ready_lane = 1 AND t.backend_alias = :backend_alias AND t.queue_name > :after
            UNION ALL
            SELECT MIN(t.queue_name) FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
             WHERE t.ready_lane = 2 AND t.backend_alias = :backend_alias AND t.queue_name > :after
            UNION ALL
            SELECT MIN(t.queue_name) FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
             WHERE t.ready_lane = 3 AND t.backend_alias = :backend_alias AND t.queue_name > :after) AS m) AS n
 WHERE n.queue_name IS NOT NULL
