-- insert_plain_task: store one new task at this instant that may start at once and depends on nothing.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, `rank`, status, due, args, kwargs, available_at, enqueued_at,
    attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors, cancel_requested, reruns)
VALUES (
    :id, :backend_alias, :task_path, :queue_name, :priority, 0 - :priority, 'READY', 1, :args, :kwargs, :enqueued_at,
    :enqueued_at, 0, :max_attempts, 0, false, 0, 0, :timeout, '[]', '[]', false, false)
