-- claim_ids: lease these rows, which the caller has admitted, to a worker whose lease is good, before an instant if one is
-- given.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET status = 'RUNNING', due = NULL, attempts = attempts + 1, epoch = epoch + 1,
       begun = task_path NOT IN (SELECT value FROM json_each(:later_paths)),
       leased_by = :worker_id, worker_ids = json_insert(worker_ids, '$[#]', :worker_id),
       started_at = COALESCE(started_at, :now), prior_attempted_at = last_attempted_at, last_attempted_at = :now
 WHERE id IN (SELECT value FROM json_each(:ids)) AND due = 1
   AND (:before IS NULL OR :now < :before)
   AND EXISTS (SELECT 1 FROM oxpull_worker w
                WHERE w.id = :worker_id AND NOT w.dead AND w.lease_expires_at > :now)
RETURNING id, epoch, task_path, queue_name, priority, available_at, args, kwargs, attempts, max_attempts, snoozes,
          timeout, begun, CASE WHEN reruns THEN unique_key END, lock_key, batch_id,
          workflow_id, limit_keys
