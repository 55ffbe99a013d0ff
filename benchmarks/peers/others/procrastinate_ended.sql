INSERT INTO procrastinate_jobs (queue_name, task_name, priority, args, status, attempts)
SELECT 'default', 'nothing', $2::int, '{"number": 0}', 'succeeded', 1 FROM generate_series(1, $1::int) AS n
