INSERT INTO django_ox_oxtask (
    id, task_path, args, kwargs, queue_name, priority, takes_context, backend_name, status, run_after, attempts,
    max_attempts, errors, worker_ids, enqueued_at, lease_epoch)
SELECT gen_random_uuid(), 'bodies.nothing', '[0]', '{}', 'default', $2::int, false, 'default', 'READY',
       now() + interval '1 day', 0, 3, '[]', '[]', now(), 0
  FROM generate_series(1, $1::int) AS n
