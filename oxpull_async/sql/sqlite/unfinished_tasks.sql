-- unfinished_tasks: ids of ready, running or parked rows, of one queue or of all, found without the ended ones.
-- Of each index `limit` rows are looked at.
SELECT x.id
  FROM (SELECT * FROM (
            SELECT t.id, t.backend_alias, t.queue_name, t.status FROM oxpull_task AS t INDEXED BY oxpull_task_ready
             WHERE t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL AND t.backend_alias = :backend_alias
               AND t.queue_name >= COALESCE(:queue_name, '') LIMIT :limit)
        UNION ALL
        SELECT * FROM (
            SELECT t.id, t.backend_alias, t.queue_name, t.status
              FROM oxpull_task AS t INDEXED BY oxpull_task_ready_locked
             WHERE t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL AND t.backend_alias = :backend_alias
               AND t.queue_name >= COALESCE(:queue_name, '') LIMIT :limit)
        UNION ALL
        SELECT * FROM (
            SELECT t.id, t.backend_alias, t.queue_name, t.status FROM oxpull_task AS t INDEXED BY oxpull_task_limited
             WHERE t.due = 1 AND t.limit_keys IS NOT NULL AND t.backend_alias = :backend_alias
               AND t.queue_name >= COALESCE(:queue_name, '') LIMIT :limit)
        UNION ALL
        SELECT * FROM (
            SELECT t.id, t.backend_alias, t.queue_name, t.status FROM oxpull_task AS t INDEXED BY oxpull_task_deferred
             WHERE t.due = 0 LIMIT :limit)
        UNION ALL
        SELECT * FROM (
            SELECT t.id, t.backend_alias, t.queue_name, t.status FROM oxpull_task AS t INDEXED BY oxpull_task_leased
             WHERE t.leased_by IS NOT NULL LIMIT :limit)
        UNION ALL
        SELECT * FROM (
            SELECT t.id, t.backend_alias, t.queue_name, t.status FROM oxpull_task AS t INDEXED BY oxpull_task_lock_waiting
             WHERE t.waiting_for = 'lock' LIMIT :limit)) AS x
 WHERE x.status = :status AND x.backend_alias = :backend_alias
   AND (:queue_name IS NULL OR x.queue_name = :queue_name)
