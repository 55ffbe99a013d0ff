-- take_over_key: take a key from a holder whose time is over, and store the task that holds it now, in one statement.
-- The lock row and the holder are locked in this order, and each decides by its own row: the lock row if it still names
-- that holder, the holder if it still has the status in which it was seen. Else nothing is written, and no row comes back.
WITH named AS MATERIALIZED (
    SELECT u.unique_key FROM oxpull_unique u
     WHERE u.unique_key = :unique_key::text AND u.holder_id = :old_id::text::uuid AND u.follow_up_id IS NULL FOR UPDATE
), ended AS MATERIALIZED (
    SELECT t.id FROM oxpull_task t
     WHERE t.id = (SELECT :old_id::text::uuid FROM named) AND t.status || '' = :old_status::text FOR UPDATE
), taken AS (
    UPDATE oxpull_unique AS u
       SET holder_id = :id::text::uuid, first_at = :now, expires_at = :now + make_interval(secs => :ttl::float8)
      FROM ended
     WHERE u.unique_key = :unique_key::text AND u.holder_id = ended.id
    RETURNING u.unique_key
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
