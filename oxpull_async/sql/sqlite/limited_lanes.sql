-- limited_lanes: the lanes of one queue with due rows that have limit keys, after one lane in their order, at most `limit`:
-- task path and limit keys, and of the best row rank, available_at, id. The recursion steps from lane to lane through
-- their index, to the next keys of a path or else the next path: a comparison of pairs would read all rows of a lane.
SELECT l.task_path, l.limit_keys, l."rank", l.available_at, l.id
  FROM (
    WITH RECURSIVE lanes(id, task_path, limit_keys, "rank", available_at) AS (
        SELECT t.id, t.task_path, t.limit_keys, t."rank", t.available_at
          FROM oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
         WHERE t.id = coalesce(
            (SELECT n.id FROM oxpull_task AS n INDEXED BY oxpull_task_limited
              WHERE n.backend_alias = :backend_alias AND n.queue_name = :queue_name AND n.due = 1
                AND n.task_path = :after_path AND n.limit_keys > :after_keys
              ORDER BY n.limit_keys, n."rank", n.available_at, n.id LIMIT 1),
            (SELECT n.id FROM oxpull_task AS n INDEXED BY oxpull_task_limited
              WHERE n.backend_alias = :backend_alias AND n.queue_name = :queue_name AND n.due = 1
                AND n.limit_keys IS NOT NULL AND n.task_path > :after_path
              ORDER BY n.task_path, n.limit_keys, n."rank", n.available_at, n.id LIMIT 1))
        UNION ALL
        SELECT t.id, t.task_path, t.limit_keys, t."rank", t.available_at
          FROM lanes AS l CROSS JOIN oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
         WHERE t.id = coalesce(
            (SELECT n.id FROM oxpull_task AS n INDEXED BY oxpull_task_limited
              WHERE n.backend_alias = :backend_alias AND n.queue_name = :queue_name AND n.due = 1
                AND n.task_path = l.task_path AND n.limit_keys > l.limit_keys
              ORDER BY n.limit_keys, n."rank", n.available_at, n.id LIMIT 1),
            (SELECT n.id FROM oxpull_task AS n INDEXED BY oxpull_task_limited
              WHERE n.backend_alias = :backend_alias AND n.queue_name = :queue_name AND n.due = 1
                AND n.limit_keys IS NOT NULL AND n.task_path > l.task_path
              ORDER BY n.task_path, n.limit_keys, n."rank", n.available_at, n.id LIMIT 1))
    )
    SELECT * FROM lanes LIMIT :limit
  ) AS l
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_queue p
                    WHERE p.backend_alias = :backend_alias AND p.queue_name = :queue_name AND p.paused)
