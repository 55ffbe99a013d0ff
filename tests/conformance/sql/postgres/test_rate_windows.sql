-- test_rate_windows: name and key of each rate window, and how many starts it has counted, of either kind.
SELECT w.name, w.limit_key, w.used + (SELECT COUNT(*) FROM oxpull_rate_start r
                                       WHERE r.name = w.name AND r.limit_key = w.limit_key)
  FROM oxpull_rate_window w
