-- pending_follow_ups: id and queue of rows that wait for the end of their key's holder.
-- They have no index: each is found from the row that holds its key, which is unfinished and declared to rerun. Of each
-- kind of unfinished rows `limit` are looked at.
SELECT f.id::text, f.queue_name
  FROM ((SELECT t.unique_key, t.reruns FROM oxpull_task t WHERE t.leased_by IS NOT NULL
          ORDER BY t.leased_by LIMIT (SELECT :limit::int))
        UNION ALL
        (SELECT t.unique_key, t.reruns FROM oxpull_task t WHERE t.due = 0
          ORDER BY t.available_at LIMIT (SELECT :limit::int))
        UNION ALL
        (SELECT t.unique_key, t.reruns FROM oxpull_task t
          WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL
          ORDER BY t.queue_name, t."rank", t.available_at LIMIT (SELECT :limit::int))
        UNION ALL
        (SELECT t.unique_key, t.reruns FROM oxpull_task t
          WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
          ORDER BY t.queue_name, t."rank", t.available_at LIMIT (SELECT :limit::int))
        UNION ALL
        (SELECT t.unique_key, t.reruns FROM oxpull_task t
          WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.limit_keys IS NOT NULL
          ORDER BY t.queue_name, t.task_path, t.limit_keys LIMIT (SELECT :limit::int))
        UNION ALL
        (SELECT t.unique_key, t.reruns FROM oxpull_task t WHERE t.waiting_for = 'lock'
          ORDER BY t.lock_key LIMIT (SELECT :limit::int))) AS h
 CROSS JOIN LATERAL (SELECT k.follow_up_id FROM oxpull_unique k WHERE k.unique_key = h.unique_key OFFSET 0) AS u
 CROSS JOIN LATERAL (
    SELECT t.id, t.queue_name FROM oxpull_task t
     WHERE t.id = u.follow_up_id AND t.status || '' = 'WAITING' AND t.backend_alias || '' = :backend_alias::text
    OFFSET 0) AS f
 WHERE h.reruns
