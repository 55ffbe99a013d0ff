-- write_windows: write how many starts windows have counted, which the caller has locked.
UPDATE oxpull_rate_window AS w
   SET started_at = n.started_at AT TIME ZONE 'UTC', used = n.used,
       expires_at = GREATEST(w.expires_at, n.expires_at AT TIME ZONE 'UTC')
  FROM json_to_recordset(:windows::text::json) AS n(
           name text, limit_key text, started_at timestamp, used int, expires_at timestamp)
 WHERE w.name = n.name AND w.limit_key = n.limit_key
