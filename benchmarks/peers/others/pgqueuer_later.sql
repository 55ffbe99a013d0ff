INSERT INTO pgqueuer (priority, execute_after, status, entrypoint, payload)
SELECT $2::int, now() + interval '1 day', 'queued', 'nothing', '0' FROM generate_series(1, $1::int) AS n
