-- count_windows: how many rate windows, and how many starts, have been over for more than `age` seconds.
SELECT (SELECT count(*) FROM oxpull_rate_window AS x INDEXED BY oxpull_rate_window_age WHERE x.expires_at < strftime('%Y-%m-%d %H:%M:%f', :now, -:age || ' seconds') || '000'),
       (SELECT count(*) FROM oxpull_rate_start AS x INDEXED BY oxpull_rate_start_age WHERE x.expires_at < strftime('%Y-%m-%d %H:%M:%f', :now, -:age || ' seconds') || '000')
