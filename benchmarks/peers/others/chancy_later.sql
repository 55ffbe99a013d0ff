INSERT INTO chancy_jobs (id, queue, func, kwargs, priority, scheduled_at)
SELECT gen_random_uuid(), 'default', '__main__.nothing', '{"number": 0}', $2::int, now() + interval '1 day'
  FROM generate_series(1, $1::int) AS n
