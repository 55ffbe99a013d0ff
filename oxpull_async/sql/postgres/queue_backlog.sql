-- queue_backlog: the first queue after `after` that has due rows, how many up to `limit`, and the oldest's age in seconds.
-- The recursion steps from rank to rank through the ready index. A LIMIT that the planner cannot see keeps its order.
SELECT n.queue_name,
       (SELECT count(*) FROM (
            SELECT t.id FROM oxpull_task t
             WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.queue_name = n.queue_name
             ORDER BY t."rank", t.available_at, t.id LIMIT (SELECT :limit::int)) AS c),
       (WITH RECURSIVE oldest("rank", available_at) AS (
            (SELECT t."rank", t.available_at FROM oxpull_task t
              WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.queue_name = n.queue_name
              ORDER BY t."rank", t.available_at LIMIT 1)
            UNION ALL
            SELECT m."rank", m.available_at
              FROM oldest o
             CROSS JOIN LATERAL (
                SELECT t."rank", t.available_at FROM oxpull_task t
                 WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.queue_name = n.queue_name
                   AND t."rank" > o."rank"
                 ORDER BY t."rank", t.available_at LIMIT 1) AS m)
        SELECT EXTRACT(EPOCH FROM :now - min(o.available_at))::float8 FROM oldest o)
  FROM (SELECT t.queue_name FROM oxpull_task t
         WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.queue_name > :after::text
         ORDER BY t.queue_name, t."rank", t.available_at LIMIT 1) AS n
