-- Its most urgent priority is 0, which the work has already: nothing outranks it, whatever $2 says.
INSERT INTO oban_jobs (state, worker, priority, args, scheduled_at)
SELECT 'scheduled', '__main__.nothing', LEAST($2::int, 0), '{"number": 0}', now() + interval '1 day'
  FROM generate_series(1, $1::int) AS n
