-- list_tasks: the newest records, in the order of `domain.record.TaskRecord`, filtered where a filter is given.
SELECT t.id, t.backend_alias, t.task_path, t.queue_name, t.priority, t.status, t.waiting_for, t.args, t.kwargs, t.run_after,
       t.available_at, t.enqueued_at, t.started_at, t.last_attempted_at, t.finished_at, t.attempts, t.max_attempts,
       t.epoch, t.timeout, t.leased_by, t.worker_ids, t.errors, t.return_value, t.progress, t.cancel_requested
  FROM oxpull_task t
 WHERE t.backend_alias = :backend_alias
   AND (:status IS NULL OR t.status = :status)
   AND (:queue_name IS NULL OR t.queue_name = :queue_name)
   AND (:task_path IS NULL OR t.task_path = :task_path)
 ORDER BY t.id DESC
 LIMIT :limit
