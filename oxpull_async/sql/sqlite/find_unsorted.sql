-- find_unsorted: due rows that a declared rate limit covers, but whose enqueue knew of none; at most `limit` of each index.
SELECT id FROM (
    SELECT t.id FROM oxpull_task AS t INDEXED BY oxpull_task_ready
     WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL
       AND (t.task_path IN (SELECT x.value FROM oxpull_rate_limit AS l CROSS JOIN json_each(l.tasks) AS x
                             WHERE l.backend_alias = :backend_alias)
            OR t.queue_name IN (SELECT x.value FROM oxpull_rate_limit AS l CROSS JOIN json_each(l.queues) AS x
                                 WHERE l.backend_alias = :backend_alias))
     LIMIT :limit)
UNION ALL
SELECT id FROM (
    SELECT t.id FROM oxpull_task AS t INDEXED BY oxpull_task_ready_locked
     WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
       AND (t.task_path IN (SELECT x.value FROM oxpull_rate_limit AS l CROSS JOIN json_each(l.tasks) AS x
                             WHERE l.backend_alias = :backend_alias)
            OR t.queue_name IN (SELECT x.value FROM oxpull_rate_limit AS l CROSS JOIN json_each(l.queues) AS x
                                 WHERE l.backend_alias = :backend_alias))
     LIMIT :limit)
