INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, "rank", status, args, kwargs, available_at, enqueued_at,
    started_at, last_attempted_at, finished_at, attempts, max_attempts, epoch, begun, refunds, snoozes, worker_ids,
    errors, return_value, cancel_requested, reruns)
SELECT (lpad(to_hex(extract(epoch FROM now())::bigint * 1000), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid,
       'default', '__main__.nothing', 'default', $2::int, -$2::int, 'SUCCESSFUL', '[0]', '{}', now(), now(), now(), now(),
       now(), 1, 3, 1, false, 0, 0, '["0198c0de-0000-7000-8000-000000000000"]', '[]', 'null', false, false
  FROM generate_series(1, $1::int) AS n
