-- return_permits: take starts back that did not happen, each in the window that counted it, if that is still the present.
UPDATE oxpull_rate_window AS w INDEXED BY sqlite_autoindex_oxpull_rate_window_1
   SET used = max(w.used - n.permits, 0)
  FROM (WITH given AS MATERIALIZED (
            SELECT json_extract(j.value, '$.name') AS name, json_extract(j.value, '$.limit_key') AS limit_key,
                   json_extract(j.value, '$.started_at') AS started_at, json_extract(j.value, '$.permits') AS permits
              FROM json_each(:windows) AS j)
        SELECT * FROM given) AS n
 WHERE w.name = n.name AND w.limit_key = n.limit_key AND w.started_at = n.started_at
