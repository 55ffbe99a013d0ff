-- insert_starts: note the starts of rows just leased, under sliding limits.
INSERT INTO oxpull_rate_start (name, limit_key, started_at, task_id, epoch, expires_at)
SELECT n.name, n.limit_key, t.last_attempted_at, t.id, t.epoch, t.last_attempted_at + make_interval(secs => n.per)
  FROM json_to_recordset(:starts::text::json) AS n(name text, limit_key text, task_id uuid, per float8)
  JOIN oxpull_task t ON t.id = n.task_id
 WHERE t.id = ANY(ARRAY(SELECT (j ->> 'task_id')::uuid FROM jsonb_array_elements(:starts::text::jsonb) AS j))
