-- insert_task: store one new task; returns its enqueued_at and available_at.
-- The due mark sets rows apart that start later, and rows that wait for another task.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, "rank", status, due, waiting_for, args, kwargs, run_after,
    available_at, enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors,
    cancel_requested, unique_key, reruns, lock_key, lock_limit, lock_conflict, batch_id,
    workflow_id, limit_keys)
SELECT
    :id::text::uuid, :backend_alias::text, :task_path::text, :queue_name::text, :priority::int, -:priority::int,
    CASE WHEN :waiting_for::text IS NULL THEN 'READY' ELSE 'WAITING' END,
    CASE WHEN :waiting_for::text IS NOT NULL THEN NULL WHEN n.run_after > :now THEN 0 ELSE 1 END,
    :waiting_for::text, :args::text::jsonb, :kwargs::text::jsonb, n.run_after, COALESCE(n.run_after, :now),
    :now, 0, :max_attempts::int, 0, false, 0, 0, :timeout::float8, '[]', '[]', false,
    :unique_key::text, :reruns::boolean, :lock_key::text, :lock_limit::int, :lock_conflict::text, :batch_id::text::uuid,
    :workflow_id::text::uuid, :limit_keys::text
FROM (VALUES (COALESCE(:now + make_interval(secs => :delay::float8),
                       :run_after::text::timestamp AT TIME ZONE 'UTC'))) AS n(run_after)
RETURNING to_json(enqueued_at) #>> '{}', to_json(available_at) #>> '{}'
