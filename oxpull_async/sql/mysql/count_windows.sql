-- count_windows: how many rate windows, and how many starts, have been over for more than `age` seconds.
SELECT (SELECT count(*) FROM oxpull_rate_window x WHERE x.expires_at < :now - INTERVAL ROUND(:age * 1000000) MICROSECOND),
       (SELECT count(*) FROM oxpull_rate_start x WHERE x.expires_at < :now - INTERVAL ROUND(:age * 1000000) MICROSECOND)
