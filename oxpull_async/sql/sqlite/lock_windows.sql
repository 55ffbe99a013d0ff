-- lock_windows: the rate windows of this list that there are. Locks nothing: there is one writer, and this one is it.
SELECT w.name, w.limit_key
  FROM json_each(:windows) AS j
 CROSS JOIN oxpull_rate_window AS w INDEXED BY sqlite_autoindex_oxpull_rate_window_1
 WHERE w.name = json_extract(j.value, '$.name') AND w.limit_key = json_extract(j.value, '$.limit_key')
