-- insert_windows: make the rate windows of this list where there are none.
INSERT INTO oxpull_rate_window (name, limit_key, started_at, used, expires_at)
SELECT json_extract(j.value, '$.name'), json_extract(j.value, '$.limit_key'), '1970-01-01 00:00:00.000000', 0, :now
  FROM json_each(:windows) AS j WHERE true
ON CONFLICT (name, limit_key) DO NOTHING
