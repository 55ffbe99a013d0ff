INSERT INTO procrastinate_jobs (queue_name, task_name, priority, args, scheduled_at)
SELECT 'default', 'nothing', $2::int, '{"number": 0}', now() + interval '1 day' FROM generate_series(1, $1::int) AS n
