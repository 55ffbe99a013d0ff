-- find_unsorted: due rows that a declared rate limit covers, but whose enqueue knew of none; at most `limit` of each index.
WITH covered AS MATERIALIZED (
    SELECT COALESCE(jsonb_agg(x.path), '[]') AS paths, COALESCE(jsonb_agg(x.queue), '[]') AS queues
      FROM oxpull_rate_limit l
     CROSS JOIN LATERAL (SELECT p.path, NULL::text AS queue FROM jsonb_array_elements_text(l.tasks) AS p(path)
                         UNION ALL
                         SELECT NULL, q.queue FROM jsonb_array_elements_text(l.queues) AS q(queue)) AS x
     WHERE l.backend_alias = :backend_alias::text
)
SELECT f.id::text FROM (
    SELECT t.id FROM oxpull_task t
     WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL
       AND ((SELECT paths FROM covered) ? t.task_path OR (SELECT queues FROM covered) ? t.queue_name)
     ORDER BY t.queue_name, t."rank", t.available_at, t.id LIMIT (SELECT :limit::int)) AS f
UNION ALL
SELECT f.id::text FROM (
    SELECT t.id FROM oxpull_task t
     WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
       AND ((SELECT paths FROM covered) ? t.task_path OR (SELECT queues FROM covered) ? t.queue_name)
     ORDER BY t.queue_name, t."rank", t.available_at, t.id LIMIT (SELECT :limit::int)) AS f
