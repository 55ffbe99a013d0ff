-- insert_task: store one new task; returns its enqueued_at and available_at. The due mark sets rows apart that start later.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, "rank", status, due, args, kwargs, run_after, available_at,
    enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors, cancel_requested)
VALUES (
    :id, :backend_alias, :task_path, :queue_name, :priority, -:priority, 'READY',
    CASE WHEN :run_after > :now THEN 0 ELSE 1 END,
    :args, :kwargs, :run_after, COALESCE(:run_after, :now), :now,
    0, :max_attempts, 0, false, 0, 0, :timeout, '[]', '[]', false)
RETURNING enqueued_at, available_at
