-- declare_limits: write the rate limits that a worker declares.
INSERT INTO oxpull_rate_limit (worker_id, name, backend_alias, most, per, sliding, tasks, queues)
SELECT :worker_id::text::uuid, n.name, :backend_alias::text, n.most, n.per, n.sliding, n.tasks::jsonb, n.queues::jsonb
  FROM jsonb_to_recordset(:limits::text::jsonb) AS n(
           name text, most int, per float8, sliding boolean, tasks text, queues text)
