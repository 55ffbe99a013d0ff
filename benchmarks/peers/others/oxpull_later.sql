INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, "rank", status, due, args, kwargs, run_after, available_at,
    enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, worker_ids, errors, cancel_requested, reruns)
SELECT (lpad(to_hex(extract(epoch FROM now())::bigint * 1000), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid,
       'default', '__main__.nothing', 'default', $2::int, -$2::int, 'READY', 0, '[0]', '{}', now() + interval '1 day',
       now() + interval '1 day', now(), 0, 3, 0, false, 0, 0, '[]', '[]', false, false
  FROM generate_series(1, $1::int) AS n
