-- insert_task: store one new task. The due mark sets rows apart that start later.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, `rank`, status, due, args, kwargs, run_after, available_at,
    enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors, cancel_requested)
VALUES (
    :id, :backend_alias, :task_path, :queue_name, :priority, 0 - :priority, 'READY',
    IF(CAST(:run_after AS DATETIME(6)) > :now, 0, 1), :args, :kwargs, :run_after,
    COALESCE(CAST(:run_after AS DATETIME(6)), :now), :now,
    0, :max_attempts, 0, false, 0, 0, :timeout, '[]', '[]', false)
