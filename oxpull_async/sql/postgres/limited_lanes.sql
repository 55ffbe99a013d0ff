-- limited_lanes: the lanes of one queue with due rows that have limit keys, after one lane in their order, at most `limit`:
-- task path and limit keys, and of the best row rank, available_at, id. The recursion steps from lane to lane through
-- their index, so its cost is per lane and not per row.
WITH RECURSIVE lanes(task_path, limit_keys, "rank", available_at, id) AS (
    (SELECT t.task_path, t.limit_keys, t."rank", t.available_at, t.id FROM oxpull_task t
      WHERE t.backend_alias = :backend_alias::text AND t.queue_name = :queue_name::text AND t.due = 1
        AND t.limit_keys IS NOT NULL AND (t.task_path, t.limit_keys) > (:after_path::text, :after_keys::text)
      ORDER BY t.task_path, t.limit_keys, t."rank", t.available_at, t.id LIMIT 1)
    UNION ALL
    SELECT n.task_path, n.limit_keys, n."rank", n.available_at, n.id
      FROM lanes l
     CROSS JOIN LATERAL (
        SELECT t.task_path, t.limit_keys, t."rank", t.available_at, t.id FROM oxpull_task t
         WHERE t.backend_alias = :backend_alias::text AND t.queue_name = :queue_name::text AND t.due = 1
           AND t.limit_keys IS NOT NULL AND (t.task_path, t.limit_keys) > (l.task_path, l.limit_keys)
         ORDER BY t.task_path, t.limit_keys, t."rank", t.available_at, t.id LIMIT 1) AS n
)
SELECT l.task_path, l.limit_keys, l."rank", to_json(l.available_at AT TIME ZONE 'UTC') #>> '{}', l.id::text
  FROM lanes l
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_queue p
                    WHERE p.backend_alias = :backend_alias::text AND p.queue_name = :queue_name::text AND p.paused)
 LIMIT :limit::int
