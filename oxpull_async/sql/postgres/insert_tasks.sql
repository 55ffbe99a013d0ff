-- insert_tasks: store new tasks given as one JSON list; returns each row's id, enqueued_at and available_at.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, "rank", status, due, waiting_for, args, kwargs, run_after,
    available_at, enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors,
    cancel_requested, unique_key, reruns, lock_key, lock_limit, lock_conflict, batch_id,
    workflow_id, limit_keys)
SELECT
    n.id, n.backend_alias, n.task_path, n.queue_name, n.priority, -n.priority,
    CASE WHEN n.waiting_for IS NULL THEN 'READY' ELSE 'WAITING' END,
    CASE WHEN n.waiting_for IS NOT NULL THEN NULL WHEN d.run_after > :now THEN 0 ELSE 1 END,
    n.waiting_for, n.args::jsonb, n.kwargs::jsonb, d.run_after, COALESCE(d.run_after, :now),
    :now, 0, n.max_attempts, 0, false, 0, 0, n.timeout, '[]', '[]', false, n.unique_key, n.reruns,
    n.lock_key, n.lock_limit, n.lock_conflict, n.batch_id, n.workflow_id, n.limit_keys
FROM json_to_recordset(:tasks::text::json) AS n(
    id uuid, backend_alias text, task_path text, queue_name text, priority int, args text, kwargs text,
    run_after timestamp, max_attempts int, timeout float8, delay float8, unique_key text, reruns boolean,
    waiting_for text, lock_key text, lock_limit int, lock_conflict text, batch_id uuid,
    workflow_id uuid, limit_keys text)
CROSS JOIN LATERAL (
    VALUES (COALESCE(:now + make_interval(secs => n.delay), n.run_after AT TIME ZONE 'UTC'))) AS d(run_after)
RETURNING id::text, to_json(enqueued_at) #>> '{}', to_json(available_at) #>> '{}'
