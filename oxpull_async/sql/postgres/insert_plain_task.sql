-- insert_plain_task: store one new task that may start at once and depends on nothing; returns its enqueued_at.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, "rank", status, due, args, kwargs, available_at, enqueued_at,
    attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors, cancel_requested, reruns)
VALUES (
    :id::text::uuid, :backend_alias, :task_path, :queue_name, :priority::int, -:priority::int, 'READY', 1,
    :args::text::jsonb, :kwargs::text::jsonb, :now, :now, 0, :max_attempts, 0, false, 0, 0, :timeout::float8, '[]',
    '[]', false, false)
RETURNING to_json(enqueued_at) #>> '{}'
