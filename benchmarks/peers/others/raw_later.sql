INSERT INTO raw_task (kind, number, args, priority, due_at)
SELECT 'nothing', n, '[1]', $2::int, now() + interval '1 day' FROM generate_series(1, $1::int) AS n
