-- write_windows: write how many starts windows have counted, which the caller has locked.
UPDATE oxpull_rate_window AS w INDEXED BY sqlite_autoindex_oxpull_rate_window_1
   SET started_at = n.started_at, used = n.used, expires_at = max(w.expires_at, n.expires_at)
  FROM (WITH given AS MATERIALIZED (
            SELECT json_extract(j.value, '$.name') AS name, json_extract(j.value, '$.limit_key') AS limit_key,
                   json_extract(j.value, '$.started_at') AS started_at, json_extract(j.value, '$.used') AS used,
                   json_extract(j.value, '$.expires_at') AS expires_at
              FROM json_each(:windows) AS j)
        SELECT * FROM given) AS n
 WHERE w.name = n.name AND w.limit_key = n.limit_key
