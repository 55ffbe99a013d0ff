-- lock_tasks: lock these rows in order; returns their records as they are now, with their running lock and whether they
-- are due.
SELECT t.id::text, t.backend_alias, t.task_path, t.queue_name, t.priority, t.status, t.waiting_for, t.args::text,
       t.kwargs::text, to_json(t.run_after) #>> '{}', to_json(t.available_at) #>> '{}',
       to_json(t.enqueued_at) #>> '{}', to_json(t.started_at) #>> '{}', to_json(t.last_attempted_at) #>> '{}',
       to_json(t.finished_at) #>> '{}', t.attempts, t.max_attempts, t.epoch, t.timeout, t.leased_by::text,
       t.worker_ids::text, t.errors::text, t.return_value::text, t.progress::text, t.cancel_requested,
       t.lock_key, t.due = 1
  FROM oxpull_task t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
 ORDER BY t.id FOR UPDATE
