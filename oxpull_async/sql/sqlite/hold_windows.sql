-- hold_windows: shut windows, which the caller has locked, for some seconds from now; one never opens sooner for it.
UPDATE oxpull_rate_window AS w INDEXED BY sqlite_autoindex_oxpull_rate_window_1
   SET held_until = max(COALESCE(w.held_until, n.until), n.until), expires_at = max(w.expires_at, n.until)
  FROM (WITH given AS MATERIALIZED (
            SELECT json_extract(j.value, '$.name') AS name, json_extract(j.value, '$.limit_key') AS limit_key,
                   strftime('%Y-%m-%d %H:%M:%f', :now, json_extract(j.value, '$.delay') || ' seconds') || '000' AS until
              FROM json_each(:windows) AS j)
        SELECT * FROM given) AS n
 WHERE w.name = n.name AND w.limit_key = n.limit_key
