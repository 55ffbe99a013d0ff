-- insert_task: store one new task.
-- The due mark sets rows apart that start later, and rows that wait for another task.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, `rank`, status, due, waiting_for, args, kwargs, run_after,
    available_at, enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors,
    cancel_requested, unique_key, reruns, lock_key, lock_limit, lock_conflict, batch_id,
    workflow_id, limit_keys)
SELECT
    :id, :backend_alias, :task_path, :queue_name, :priority, 0 - :priority,
    IF(:waiting_for IS NULL, 'READY', 'WAITING'),
    CASE WHEN :waiting_for IS NOT NULL THEN NULL WHEN n.run_after > :now THEN 0 ELSE 1 END,
    :waiting_for, :args, :kwargs, n.run_after, COALESCE(n.run_after, :now), :now,
    0, :max_attempts, 0, false, 0, 0, :timeout, '[]', '[]', false, :unique_key, :reruns,
    :lock_key, :lock_limit, :lock_conflict, :batch_id, :workflow_id, :limit_keys
FROM (SELECT COALESCE(:now + INTERVAL ROUND(:delay * 1000000) MICROSECOND,
                      CAST(:run_after AS DATETIME(6))) AS run_after) AS n
