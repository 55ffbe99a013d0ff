-- insert_plain_task: store one new task that may start at once and depends on nothing; returns its enqueued_at.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, "rank", status, due, args, kwargs, available_at, enqueued_at,
    attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors, cancel_requested, reruns)
VALUES (
    :id, :backend_alias, :task_path, :queue_name, :priority, -:priority, 'READY', 1, :args, :kwargs, :now, :now,
    0, :max_attempts, 0, false, 0, 0, :timeout, '[]', '[]', false, false)
RETURNING enqueued_at
