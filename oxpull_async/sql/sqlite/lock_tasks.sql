-- lock_tasks: the records with these ids, with their running lock and whether they are due.
-- Locks nothing: there is one writer, and this one is it.
SELECT t.id, t.backend_alias, t.task_path, t.queue_name, t.priority, t.status, t.waiting_for, t.args, t.kwargs, t.run_after,
       t.available_at, t.enqueued_at, t.started_at, t.last_attempted_at, t.finished_at, t.attempts, t.max_attempts,
       t.epoch, t.timeout, t.leased_by, t.worker_ids, t.errors, t.return_value, t.progress, t.cancel_requested,
       t.lock_key, t.due = 1
  FROM oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE t.id IN (SELECT value FROM json_each(:ids))
