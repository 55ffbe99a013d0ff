-- rewrite_holder: give the holder of a key, READY and not started, the arguments of a newer call; returns its record.
-- Matches nothing where there is more to it: a follow-up, something the holder waits for, a running lock that it may
-- leave, an expired key, or a snapshot that may be outrun. A `wait` moves run_after as `rewrite_unstarted` does.
UPDATE oxpull_task AS t
   SET args = :args::text::jsonb, kwargs = :kwargs::text::jsonb, priority = :priority::int, "rank" = -:priority::int,
       run_after = d.run_after, available_at = COALESCE(d.run_after, t.enqueued_at),
       reruns = t.reruns OR :reruns::boolean, lock_key = :lock_key::text, lock_limit = :lock_limit::int,
       lock_conflict = :lock_conflict::text, limit_keys = :limit_keys::text,
       due = CASE WHEN d.run_after > :now THEN 0 ELSE 1 END
  FROM oxpull_unique AS u
 CROSS JOIN LATERAL (VALUES (
     COALESCE(LEAST(:now + make_interval(secs => :wait::float8), u.first_at + make_interval(secs => :max_wait::float8)),
              :run_after::text::timestamp AT TIME ZONE 'UTC'))) AS d(run_after)
 WHERE u.unique_key = :unique_key::text AND u.follow_up_id IS NULL AND COALESCE(u.expires_at > :now, true)
   AND t.id = u.holder_id AND t.status || '' = 'READY' AND t.attempts = 0 AND t.lock_key IS NULL
   AND current_setting('transaction_isolation') = 'read committed'
RETURNING t.id::text, t.backend_alias, t.task_path, t.queue_name, t.priority, t.status, t.waiting_for, t.args::text,
       t.kwargs::text, to_json(t.run_after) #>> '{}', to_json(t.available_at) #>> '{}',
       to_json(t.enqueued_at) #>> '{}', to_json(t.started_at) #>> '{}', to_json(t.last_attempted_at) #>> '{}',
       to_json(t.finished_at) #>> '{}', t.attempts, t.max_attempts, t.epoch, t.timeout, t.leased_by::text,
       t.worker_ids::text, t.errors::text, t.return_value::text, t.progress::text, t.cancel_requested
