-- insert_unique_task: take a key that nobody holds and store its task, in one statement.
-- Returns its enqueued_at and available_at, or nothing where the key has a lock row: nothing is written then.
WITH taken AS (
    INSERT INTO oxpull_unique (unique_key, holder_id, first_at, expires_at)
    VALUES (:unique_key::text, :id::text::uuid, :now, :now + make_interval(secs => :ttl::float8))
    ON CONFLICT (unique_key) DO NOTHING
    RETURNING unique_key
)
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, "rank", status, due, args, kwargs, run_after, available_at,
    enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors, cancel_requested,
    unique_key, reruns, lock_key, lock_limit, lock_conflict, batch_id,
    workflow_id, limit_keys)
SELECT
    :id::text::uuid, :backend_alias::text, :task_path::text, :queue_name::text, :priority::int, -:priority::int, 'READY',
    CASE WHEN n.run_after > :now THEN 0 ELSE 1 END,
    :args::text::jsonb, :kwargs::text::jsonb, n.run_after, COALESCE(n.run_after, :now),
    :now, 0, :max_attempts::int, 0, false, 0, 0, :timeout::float8, '[]', '[]', false, taken.unique_key,
    :reruns::boolean, :lock_key::text, :lock_limit::int, :lock_conflict::text, :batch_id::text::uuid,
    :workflow_id::text::uuid, :limit_keys::text
FROM taken
CROSS JOIN (VALUES (COALESCE(:now + make_interval(secs => :delay::float8),
                             :run_after::text::timestamp AT TIME ZONE 'UTC'))) AS n(run_after)
RETURNING to_json(enqueued_at) #>> '{}', to_json(available_at) #>> '{}'
