-- waiting_time: for how many seconds the oldest due row has been ready, and how many running rows have no living worker.
-- Rows that rate limits may hold up are left out.
-- The recursions step through the ready indexes by queue and rank and through the lease index by worker, not by row.
WITH RECURSIVE oldest(queue_name, "rank", available_at) AS (
    (SELECT f.* FROM (
        (SELECT t.queue_name, t."rank", t.available_at FROM oxpull_task t
          WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL
          ORDER BY t.queue_name, t."rank", t.available_at LIMIT 1)
        UNION ALL
        (SELECT t.queue_name, t."rank", t.available_at FROM oxpull_task t
          WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
          ORDER BY t.queue_name, t."rank", t.available_at LIMIT 1)) AS f
      ORDER BY f.queue_name, f."rank", f.available_at LIMIT 1)
    UNION ALL
    SELECT n.queue_name, n."rank", n.available_at
      FROM oldest o
     CROSS JOIN LATERAL (
        SELECT f.* FROM (
            (SELECT t.queue_name, t."rank", t.available_at FROM oxpull_task t
              WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL
                AND (t.queue_name, t."rank") > (o.queue_name, o."rank")
              ORDER BY t.queue_name, t."rank", t.available_at LIMIT 1)
            UNION ALL
            (SELECT t.queue_name, t."rank", t.available_at FROM oxpull_task t
              WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
                AND (t.queue_name, t."rank") > (o.queue_name, o."rank")
              ORDER BY t.queue_name, t."rank", t.available_at LIMIT 1)) AS f
         ORDER BY f.queue_name, f."rank", f.available_at LIMIT 1) AS n
), holder(id) AS (
    (SELECT t.leased_by FROM oxpull_task t WHERE t.leased_by IS NOT NULL ORDER BY t.leased_by LIMIT 1)
    UNION ALL
    SELECT (SELECT t.leased_by FROM oxpull_task t WHERE t.leased_by > h.id ORDER BY t.leased_by LIMIT 1)
      FROM holder h WHERE h.id IS NOT NULL
)
SELECT (SELECT EXTRACT(EPOCH FROM :now - min(o.available_at))::float8 FROM oldest o),
       (SELECT COALESCE(sum((SELECT count(*) FROM oxpull_task t
                              WHERE t.leased_by = h.id AND t.status || '' = 'RUNNING')), 0)::bigint
          FROM holder h
         WHERE NOT EXISTS (SELECT 1 FROM oxpull_worker w WHERE w.id = h.id AND NOT w.dead))
