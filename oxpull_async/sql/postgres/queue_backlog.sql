-- queue_backlog: the first queue after `after` that has due rows, how many up to `limit`, and the oldest's age in seconds.
-- Rows that rate limits may hold up are counted, but their age is not.
-- The recursion steps from rank to rank through the ready indexes. A LIMIT that the planner cannot see keeps their order.
SELECT n.queue_name,
       LEAST((SELECT :limit::int),
             (SELECT count(*) FROM (
                SELECT t.id FROM oxpull_task t
                 WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL
                   AND t.queue_name = n.queue_name
                 ORDER BY t."rank", t.available_at, t.id LIMIT (SELECT :limit::int)) AS c)
           + (SELECT count(*) FROM (
                SELECT t.id FROM oxpull_task t
                 WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
                   AND t.queue_name = n.queue_name
                 ORDER BY t."rank", t.available_at, t.id LIMIT (SELECT :limit::int)) AS c)
           + (SELECT count(*) FROM (
                SELECT t.id FROM oxpull_task t
                 WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.limit_keys IS NOT NULL
                   AND t.queue_name = n.queue_name
                 ORDER BY t.task_path, t.limit_keys LIMIT (SELECT :limit::int)) AS c)),
       (WITH RECURSIVE oldest("rank", available_at) AS (
            SELECT (-32768)::smallint, NULL::timestamptz
            UNION ALL
            SELECT m."rank", m.available_at
              FROM oldest o
             CROSS JOIN LATERAL (
                SELECT f.* FROM (
                    (SELECT t."rank", t.available_at FROM oxpull_task t
                      WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL
                        AND t.queue_name = n.queue_name AND t."rank" > o."rank"
                      ORDER BY t."rank", t.available_at LIMIT 1)
                    UNION ALL
                    (SELECT t."rank", t.available_at FROM oxpull_task t
                      WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
                        AND t.queue_name = n.queue_name AND t."rank" > o."rank"
                      ORDER BY t."rank", t.available_at LIMIT 1)) AS f
                 ORDER BY f."rank", f.available_at LIMIT 1) AS m)
        SELECT COALESCE(EXTRACT(EPOCH FROM :now - min(o.available_at))::float8, 0) FROM oldest o)
  FROM (SELECT LEAST(
            (SELECT t.queue_name FROM oxpull_task t
              WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL
                AND t.queue_name > :after::text ORDER BY t.queue_name LIMIT 1),
            (SELECT t.queue_name FROM oxpull_task t
              WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
                AND t.queue_name > :after::text ORDER BY t.queue_name LIMIT 1),
            (SELECT t.queue_name FROM oxpull_task t
              WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.limit_keys IS NOT NULL
                AND t.queue_name > :after::text ORDER BY t.queue_name LIMIT 1)) AS queue_name) AS n
 WHERE n.queue_name IS NOT NULL
