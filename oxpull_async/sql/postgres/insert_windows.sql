-- insert_windows: make the rate windows of this list, in order, where there are none.
INSERT INTO oxpull_rate_window (name, limit_key, started_at, used, expires_at)
SELECT n.name, n.limit_key, 'epoch', 0, :now
  FROM json_to_recordset(:windows::text::json) AS n(name text, limit_key text)
 ORDER BY n.name COLLATE "C", n.limit_key COLLATE "C"
ON CONFLICT (name, limit_key) DO NOTHING
