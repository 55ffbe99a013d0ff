-- move_lock: lock those of these old rows that nobody else has locked, and return them as they are now.
SELECT t.id::text, t.backend_name, t.task_path, t.queue_name, t.priority, t.status, t.args::text, t.kwargs::text,
       to_json(t.run_after) #>> '{}', to_json(t.enqueued_at) #>> '{}', to_json(t.started_at) #>> '{}',
       to_json(t.last_attempted_at) #>> '{}', to_json(t.finished_at) #>> '{}', t.attempts, t.max_attempts,
       t.lease_epoch, t.worker_ids::text, t.errors::text, t.return_value::text
  FROM django_ox_oxtask t
 WHERE t.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
 ORDER BY t.id FOR UPDATE SKIP LOCKED
