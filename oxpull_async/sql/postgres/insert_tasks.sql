-- insert_tasks: store new tasks given as a JSON list of rows and one of kinds, which hold what rows have in common.
-- Returns each kind with the enqueued_at and available_at of its rows.
WITH kind AS MATERIALIZED (
    SELECT k.*, d.starts_at
      FROM json_to_recordset(:kinds::text::json) AS k(
        kind int, backend_alias text, task_path text, queue_name text, priority int, run_after timestamp,
        max_attempts int, timeout float8, delay float8, reruns boolean, lock_limit int, lock_conflict text)
     CROSS JOIN LATERAL (
        VALUES (COALESCE(:now + make_interval(secs => k.delay), k.run_after AT TIME ZONE 'UTC'))) AS d(starts_at)
), inserted AS (
    INSERT INTO oxpull_task (
        id, backend_alias, task_path, queue_name, priority, "rank", status, due, waiting_for, args, kwargs, run_after,
        available_at, enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors,
        cancel_requested, unique_key, reruns, lock_key, lock_limit, lock_conflict, batch_id, workflow_id, limit_keys)
    SELECT
        n.id, k.backend_alias, k.task_path, k.queue_name, k.priority, -k.priority,
        CASE WHEN n.waiting_for IS NULL THEN 'READY' ELSE 'WAITING' END,
        CASE WHEN n.waiting_for IS NOT NULL THEN NULL WHEN k.starts_at > :now THEN 0 ELSE 1 END,
        n.waiting_for, n.args::jsonb, COALESCE(n.kwargs, '{}')::jsonb, k.starts_at, COALESCE(k.starts_at, :now),
        :now, 0, k.max_attempts, 0, false, 0, 0, k.timeout, '[]', '[]', false, n.unique_key, COALESCE(k.reruns, false),
        n.lock_key, k.lock_limit, k.lock_conflict, n.batch_id, n.workflow_id, n.limit_keys
      FROM json_to_recordset(:tasks::text::json) AS n(
        id uuid, kind int, args text, kwargs text, unique_key text, waiting_for text, lock_key text, limit_keys text,
        batch_id uuid, workflow_id uuid)
      JOIN kind AS k ON k.kind = n.kind
)
SELECT kind, to_json(:now) #>> '{}', to_json(COALESCE(starts_at, :now)) #>> '{}' FROM kind
