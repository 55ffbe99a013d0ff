-- hold_windows: shut windows, which the caller has locked, for some seconds from now; one never opens sooner for it.
UPDATE oxpull_rate_window AS w
   SET held_until = GREATEST(w.held_until, :now + make_interval(secs => n.delay)),
       expires_at = GREATEST(w.expires_at, :now + make_interval(secs => n.delay))
  FROM json_to_recordset(:windows::text::json) AS n(name text, limit_key text, delay float8)
 WHERE w.name = n.name AND w.limit_key = n.limit_key
