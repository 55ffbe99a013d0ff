-- pending_follow_ups: id and queue of rows that wait for the end of their key's holder.
-- They have no index: each is found from the row that holds its key, which is unfinished and declared to rerun. Of each
-- kind of unfinished rows `limit` are looked at.
SELECT f.id, f.queue_name
  FROM (SELECT * FROM (SELECT t.unique_key, t.reruns FROM oxpull_task AS t INDEXED BY oxpull_task_leased
                        WHERE t.leased_by IS NOT NULL LIMIT :limit)
        UNION ALL
        SELECT * FROM (SELECT t.unique_key, t.reruns FROM oxpull_task AS t INDEXED BY oxpull_task_deferred
                        WHERE t.due = 0 LIMIT :limit)
        UNION ALL
        SELECT * FROM (SELECT t.unique_key, t.reruns FROM oxpull_task AS t INDEXED BY oxpull_task_ready
                        WHERE t.backend_alias = :backend_alias AND t.due = 1
                          AND t.lock_key IS NULL AND t.limit_keys IS NULL LIMIT :limit)
        UNION ALL
        SELECT * FROM (SELECT t.unique_key, t.reruns FROM oxpull_task AS t INDEXED BY oxpull_task_ready_locked
                        WHERE t.backend_alias = :backend_alias AND t.due = 1
                          AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL LIMIT :limit)
        UNION ALL
        SELECT * FROM (SELECT t.unique_key, t.reruns FROM oxpull_task AS t INDEXED BY oxpull_task_limited
                        WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.limit_keys IS NOT NULL LIMIT :limit)
        UNION ALL
        SELECT * FROM (SELECT t.unique_key, t.reruns FROM oxpull_task AS t INDEXED BY oxpull_task_lock_waiting
                        WHERE t.waiting_for = 'lock' LIMIT :limit)) AS h
 CROSS JOIN oxpull_unique AS u INDEXED BY sqlite_autoindex_oxpull_unique_1
 CROSS JOIN oxpull_task AS f INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE h.reruns AND u.unique_key = h.unique_key AND f.id = u.follow_up_id AND f.status = 'WAITING'
   AND f.backend_alias = :backend_alias
