-- move_lock: these old rows as they are now. Locks nothing: there is one writer, and this one is it.
SELECT t.id, t.backend_name, t.task_path, t.queue_name, t.priority, t.status, t.args, t.kwargs, t.run_after,
       t.enqueued_at, t.started_at, t.last_attempted_at, t.finished_at, t.attempts, t.max_attempts, t.lease_epoch,
       t.worker_ids, t.errors, t.return_value
  FROM django_ox_oxtask AS t
 WHERE t.id IN (SELECT value FROM json_each(:ids))
 ORDER BY t.id
