INSERT INTO raw_task (kind, number, args, priority, status, finished_at)
SELECT 'nothing', n, '[1]', $2::int, 2, now() FROM generate_series(1, $1::int) AS n
