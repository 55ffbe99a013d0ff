-- list_tasks: the newest records, in the order of `domain.record.TaskRecord`, filtered where a filter is given.
SELECT t.id::text, t.backend_alias, t.task_path, t.queue_name, t.priority, t.status, t.waiting_for, t.args::text,
       t.kwargs::text, to_json(t.run_after) #>> '{}', to_json(t.available_at) #>> '{}',
       to_json(t.enqueued_at) #>> '{}', to_json(t.started_at) #>> '{}', to_json(t.last_attempted_at) #>> '{}',
       to_json(t.finished_at) #>> '{}', t.attempts, t.max_attempts, t.epoch, t.timeout, t.leased_by::text,
       t.worker_ids::text, t.errors::text, t.return_value::text, t.progress::text, t.cancel_requested
  FROM oxpull_task t
 WHERE t.backend_alias = :backend_alias::text
   AND (:status::text IS NULL OR t.status = :status::text)
   AND (:queue_name::text IS NULL OR t.queue_name = :queue_name::text)
   AND (:task_path::text IS NULL OR t.task_path = :task_path::text)
 ORDER BY t.id DESC
 LIMIT :limit::int
