INSERT INTO pgqueuer_log (job_id, status, priority, entrypoint)
SELECT n, 'successful', $2::int, 'nothing' FROM generate_series(1, $1::int) AS n
