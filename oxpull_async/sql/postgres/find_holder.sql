-- find_holder: the record that the lock row of this key names as its holder, in the order of `domain.record.TaskRecord`
-- (NULL where it is gone), then the lock row as `find_holders` gives it; nothing where the key has none.
SELECT t.id::text, t.backend_alias, t.task_path, t.queue_name, t.priority, t.status, t.waiting_for, t.args::text,
       t.kwargs::text, to_json(t.run_after) #>> '{}', to_json(t.available_at) #>> '{}',
       to_json(t.enqueued_at) #>> '{}', to_json(t.started_at) #>> '{}', to_json(t.last_attempted_at) #>> '{}',
       to_json(t.finished_at) #>> '{}', t.attempts, t.max_attempts, t.epoch, t.timeout, t.leased_by::text,
       t.worker_ids::text, t.errors::text, t.return_value::text, t.progress::text, t.cancel_requested,
       u.unique_key, u.holder_id::text, u.follow_up_id::text, u.expires_at <= :now,
       current_setting('transaction_isolation')
  FROM oxpull_unique u
  LEFT JOIN oxpull_task t ON t.id = u.holder_id
 WHERE u.unique_key = :unique_key::text
