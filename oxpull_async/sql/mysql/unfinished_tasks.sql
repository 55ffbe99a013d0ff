-- unfinished_tasks: ids of ready, running or parked rows, of one queue or of all, found without the ended ones.
-- Of each index `limit` rows are looked at.
SELECT x.id
  FROM ((SELECT t.id, t.backend_alias, t.queue_name, t.status FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
          WHERE t.ready_lane IN (1, 2, 3) AND t.backend_alias = :backend_alias
            AND t.queue_name >= COALESCE(:queue_name, '') LIMIT :limit)
        UNION ALL
        (SELECT t.id, t.backend_alias, t.queue_name, t.status FROM oxpull_task AS t FORCE INDEX (oxpull_task_deferred)
          WHERE t.deferred_until IS NOT NULL LIMIT :limit)
        UNION ALL
        (SELECT t.id, t.backend_alias, t.queue_name, t.status FROM oxpull_task AS t FORCE INDEX (oxpull_task_leased)
          WHERE t.leased_by IS NOT NULL LIMIT :limit)
        UNION ALL
        (SELECT t.id, t.backend_alias, t.queue_name, t.status FROM oxpull_task AS t FORCE INDEX (oxpull_task_lock)
          WHERE t.lock_state >= 'w' AND t.lock_state < 'x' LIMIT :limit)) AS x
 WHERE x.status = :status AND x.backend_alias = :backend_alias
   AND (:queue_name IS NULL OR x.queue_name = :queue_name)
