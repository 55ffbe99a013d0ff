-- claim_candidates: the best due rows of these queues that need no running lock; returns id, rank, available_at.
SELECT best.id, best."rank", best.available_at
  FROM json_each(:queues) AS q
 CROSS JOIN oxpull_task AS best INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE best.id IN (
    SELECT t.id FROM oxpull_task AS t INDEXED BY oxpull_task_ready
     WHERE t.backend_alias = :backend_alias AND t.queue_name = q.value AND t.due = 1
       AND t.lock_key IS NULL AND t.limit_keys IS NULL
       AND t.task_path NOT IN (
           SELECT value FROM json_each(:excluded_paths)
           UNION ALL
           SELECT x.value FROM oxpull_rate_limit AS l CROSS JOIN json_each(l.tasks) AS x
            WHERE l.backend_alias = :backend_alias)
     ORDER BY t."rank", t.available_at, t.id
     LIMIT :limit)
   AND NOT EXISTS (SELECT 1 FROM oxpull_queue p
                    WHERE p.backend_alias = :backend_alias AND p.queue_name = q.value AND p.paused)
   AND NOT EXISTS (SELECT 1 FROM oxpull_rate_limit AS l CROSS JOIN json_each(l.queues) AS x
                    WHERE l.backend_alias = :backend_alias AND x.value = q.value)
 ORDER BY best."rank", best.available_at, best.id
 LIMIT :limit
