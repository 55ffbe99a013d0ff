-- insert_task: store one new task at this instant.
-- The due mark sets rows apart that start later, and rows that wait for another task.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, `rank`, status, due, waiting_for, args, kwargs, run_after,
    available_at, enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors,
    cancel_requested, unique_key, reruns, lock_key, lock_limit, lock_conflict, batch_id,
    workflow_id, limit_keys)
VALUES (
    :id, :backend_alias, :task_path, :queue_name, :priority, 0 - :priority,
    IF(:waiting_for IS NULL, 'READY', 'WAITING'),
    CASE WHEN :waiting_for IS NOT NULL THEN NULL WHEN CAST(:run_after AS DATETIME(6)) > :now THEN 0 ELSE 1 END,
    :waiting_for, :args, :kwargs, :run_after,
    COALESCE(CAST(:run_after AS DATETIME(6)), CAST(:enqueued_at AS DATETIME(6))), :enqueued_at,
    0, :max_attempts, 0, false, 0, 0, :timeout, '[]', '[]', false, :unique_key, :reruns,
    :lock_key, :lock_limit, :lock_conflict, :batch_id, :workflow_id, :limit_keys)
