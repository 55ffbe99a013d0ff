-- claim_past_locked: `claim`, unless one of the best due rows with a running lock, `limit` of each queue, finds a slot
-- free now: then nothing, for whether that row may start is decided under its key's lock row, which this does not touch.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET status = 'RUNNING', due = NULL, attempts = attempts + 1, epoch = epoch + 1,
       begun = task_path NOT IN (SELECT value FROM json_each(:later_paths)),
       leased_by = :worker_id, worker_ids = json_insert(worker_ids, '$[#]', :worker_id),
       started_at = COALESCE(started_at, :now), prior_attempted_at = last_attempted_at, last_attempted_at = :now
 WHERE id IN (
    SELECT best.id
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
     LIMIT :limit)
   AND EXISTS (SELECT 1 FROM oxpull_worker w
                WHERE w.id = :worker_id AND NOT w.dead AND w.lease_expires_at > :now)
   AND NOT EXISTS (
      SELECT 1
        FROM (SELECT best.lock_key, max(best.lock_limit) AS lock_limit
                FROM json_each(:queues) AS q
               CROSS JOIN oxpull_task AS best INDEXED BY sqlite_autoindex_oxpull_task_1
               WHERE best.id IN (
                  SELECT t.id FROM oxpull_task AS t INDEXED BY oxpull_task_ready_locked
                   WHERE t.backend_alias = :backend_alias AND t.queue_name = q.value AND t.due = 1
                     AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
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
               GROUP BY best.lock_key) AS met
       WHERE met.lock_limit > (SELECT count(*) FROM oxpull_task AS h INDEXED BY oxpull_task_lock_running
                              WHERE h.lock_key = met.lock_key AND h.leased_by IS NOT NULL))
RETURNING id, epoch, task_path, queue_name, priority, available_at, args, kwargs, attempts, max_attempts, snoozes,
          timeout, begun, CASE WHEN reruns THEN unique_key END, lock_key, batch_id,
          workflow_id, limit_keys
