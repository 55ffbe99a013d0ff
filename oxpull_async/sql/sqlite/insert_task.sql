-- insert_task: store one new task; returns its enqueued_at and available_at.
-- The due mark sets rows apart that start later, and rows that wait for another task. A delay beyond the calendar
-- leaves available_at NULL, and so is refused.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, "rank", status, due, waiting_for, args, kwargs, run_after,
    available_at, enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors,
    cancel_requested, unique_key, reruns, lock_key, lock_limit, lock_conflict, batch_id,
    workflow_id, limit_keys)
SELECT
    :id, :backend_alias, :task_path, :queue_name, :priority, -:priority,
    CASE WHEN :waiting_for IS NULL THEN 'READY' ELSE 'WAITING' END,
    CASE WHEN :waiting_for IS NOT NULL THEN NULL WHEN n.run_after > :now THEN 0 ELSE 1 END,
    :waiting_for, :args, :kwargs, n.run_after,
    CASE WHEN :delay IS NULL THEN COALESCE(n.run_after, :now) ELSE n.run_after END, :now,
    0, :max_attempts, 0, false, 0, 0, :timeout, '[]', '[]', false, :unique_key, :reruns,
    :lock_key, :lock_limit, :lock_conflict, :batch_id, :workflow_id, :limit_keys
  FROM (SELECT CASE WHEN :delay IS NULL THEN :run_after
                    ELSE strftime('%Y-%m-%d %H:%M:%f', :now, :delay || ' seconds') || '000' END AS run_after) AS n
 WHERE true
RETURNING enqueued_at, available_at
