-- move_insert: store moved tasks given as one JSON list, with all that has happened to them.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, "rank", status, due, args, kwargs, run_after, available_at,
    enqueued_at, started_at, last_attempted_at, finished_at, attempts, max_attempts, epoch, begun, refunds, snoozes,
    timeout, worker_ids, errors, return_value, cancel_requested, unique_key, reruns, lock_key, lock_limit,
    lock_conflict, waiting_for, batch_id, workflow_id, limit_keys)
SELECT
    n.id, n.backend_alias, n.task_path, n.queue_name, n.priority, -n.priority, n.status,
    CASE WHEN n.status <> 'READY' THEN NULL WHEN n.run_after AT TIME ZONE 'UTC' > :now THEN 0 ELSE 1 END,
    n.args::jsonb, n.kwargs::jsonb, n.run_after AT TIME ZONE 'UTC',
    COALESCE(n.run_after, n.enqueued_at) AT TIME ZONE 'UTC', n.enqueued_at AT TIME ZONE 'UTC',
    n.started_at AT TIME ZONE 'UTC', n.last_attempted_at AT TIME ZONE 'UTC', n.finished_at AT TIME ZONE 'UTC',
    n.attempts, n.max_attempts, n.epoch, false, 0, 0, n.timeout, n.worker_ids::jsonb, n.errors::jsonb,
    n.return_value::jsonb, false, n.unique_key, n.reruns, n.lock_key, n.lock_limit, n.lock_conflict,
    n.waiting_for, n.batch_id, n.workflow_id, n.limit_keys
FROM json_to_recordset(:tasks::text::json) AS n(
    id uuid, backend_alias text, task_path text, queue_name text, priority int, status text, args text, kwargs text,
    run_after timestamp, enqueued_at timestamp, started_at timestamp, last_attempted_at timestamp,
    finished_at timestamp, attempts int, max_attempts int, epoch bigint, timeout float8, worker_ids text, errors text,
    return_value text, unique_key text, reruns boolean, lock_key text, lock_limit int, lock_conflict text,
    waiting_for text, batch_id uuid, workflow_id uuid, limit_keys text)
