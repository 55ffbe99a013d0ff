-- read_windows: the rate windows of this list: name, key, when the window began, starts counted in it, until when it is
-- held shut; the starts noted one by one in the last `per` seconds and the first of them; and the instant of all this.
SELECT n.name, n.limit_key, w.started_at, w.used, w.held_until,
       (SELECT count(*) FROM oxpull_rate_start AS r INDEXED BY sqlite_autoindex_oxpull_rate_start_1
         WHERE r.name = n.name AND r.limit_key = n.limit_key AND r.started_at > n.since),
       (SELECT min(r.started_at) FROM oxpull_rate_start AS r INDEXED BY sqlite_autoindex_oxpull_rate_start_1
         WHERE r.name = n.name AND r.limit_key = n.limit_key AND r.started_at > n.since),
       :now
  FROM (SELECT json_extract(j.value, '$.name') AS name, json_extract(j.value, '$.limit_key') AS limit_key,
               strftime('%Y-%m-%d %H:%M:%f', :now, '-' || json_extract(j.value, '$.per') || ' seconds') || '000' AS since
          FROM json_each(:windows) AS j) AS n
  LEFT JOIN oxpull_rate_window AS w INDEXED BY sqlite_autoindex_oxpull_rate_window_1
    ON w.name = n.name AND w.limit_key = n.limit_key
