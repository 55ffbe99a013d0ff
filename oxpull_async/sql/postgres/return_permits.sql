-- return_permits: take starts back that did not happen, each in the window that counted it, if that is still the present.
UPDATE oxpull_rate_window AS w
   SET used = GREATEST(w.used - n.permits, 0)
  FROM json_to_recordset(:windows::text::json) AS n(name text, limit_key text, started_at timestamp, permits int)
 WHERE w.name = n.name AND w.limit_key = n.limit_key AND w.started_at = n.started_at AT TIME ZONE 'UTC'
