INSERT INTO django_ox_oxtask (
    id, task_path, args, kwargs, queue_name, priority, takes_context, backend_name, status, attempts, max_attempts,
    return_value, errors, worker_ids, enqueued_at, started_at, last_attempted_at, finished_at, lease_epoch)
SELECT gen_random_uuid(), 'bodies.nothing', '[0]', '{}', 'default', $2::int, false, 'default', 'SUCCESSFUL', 1, 3,
       'null', '[]', '["worker"]', now(), now(), now(), now(), 1
  FROM generate_series(1, $1::int) AS n
