-- unfinished_tasks: ids of ready, running or parked rows, of one queue or of all, found without the ended ones.
-- Of each index `limit` rows are looked at. A LIMIT that the planner cannot see keeps it on the small indexes.
SELECT x.id::text
  FROM ((SELECT t.id, t.backend_alias, t.queue_name, 'READY' AS status FROM oxpull_task t
          WHERE t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL AND t.backend_alias = :backend_alias::text
            AND t.queue_name >= COALESCE(:queue_name::text, '')
          ORDER BY t.queue_name, t."rank", t.available_at, t.id LIMIT (SELECT :limit::int))
        UNION ALL
        (SELECT t.id, t.backend_alias, t.queue_name, 'READY' FROM oxpull_task t
          WHERE t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL AND t.backend_alias = :backend_alias::text
            AND t.queue_name >= COALESCE(:queue_name::text, '')
          ORDER BY t.queue_name, t."rank", t.available_at, t.id LIMIT (SELECT :limit::int))
        UNION ALL
        (SELECT t.id, t.backend_alias, t.queue_name, 'READY' FROM oxpull_task t
          WHERE t.due = 1 AND t.limit_keys IS NOT NULL AND t.backend_alias = :backend_alias::text
            AND t.queue_name >= COALESCE(:queue_name::text, '')
          ORDER BY t.queue_name, t.task_path, t.limit_keys LIMIT (SELECT :limit::int))
        UNION ALL
        (SELECT t.id, t.backend_alias, t.queue_name, 'READY' FROM oxpull_task t
          WHERE t.due = 0 ORDER BY t.available_at LIMIT (SELECT :limit::int))
        UNION ALL
        (SELECT t.id, t.backend_alias, t.queue_name, t.status FROM oxpull_task t
          WHERE t.leased_by IS NOT NULL
          ORDER BY t.leased_by LIMIT (SELECT :limit::int))
        UNION ALL
        (SELECT t.id, t.backend_alias, t.queue_name, 'WAITING' FROM oxpull_task t
          WHERE t.waiting_for = 'lock'
          ORDER BY t.lock_key LIMIT (SELECT :limit::int))) AS x
 WHERE x.status = :status::text AND x.backend_alias = :backend_alias::text
   AND (:queue_name::text IS NULL OR x.queue_name = :queue_name::text)
