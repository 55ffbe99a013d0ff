-- read_windows: the rate windows of this list: name, key, when the window began, starts counted in it, until when it is
-- held shut; the starts noted one by one in the last `per` seconds and the first of them; and the instant of all this.
SELECT n.name, n.limit_key, to_json(w.started_at AT TIME ZONE 'UTC') #>> '{}', w.used,
       to_json(w.held_until AT TIME ZONE 'UTC') #>> '{}', s.starts, to_json(s.oldest AT TIME ZONE 'UTC') #>> '{}',
       to_json(:now AT TIME ZONE 'UTC') #>> '{}'
  FROM json_to_recordset(:windows::text::json) AS n(name text, limit_key text, per float8)
  LEFT JOIN oxpull_rate_window w ON w.name = n.name AND w.limit_key = n.limit_key
  LEFT JOIN LATERAL (
      SELECT count(*) AS starts, min(r.started_at) AS oldest FROM oxpull_rate_start r
       WHERE r.name = n.name AND r.limit_key = n.limit_key AND r.started_at > :now - make_interval(secs => n.per)) AS s
    ON true
