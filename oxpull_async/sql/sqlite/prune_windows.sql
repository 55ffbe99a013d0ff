-- prune_windows: delete windows that ended more than `age` seconds ago; matches at most `limit` rows.
DELETE FROM oxpull_rate_window
 WHERE rowid IN (
    SELECT x.rowid FROM oxpull_rate_window AS x INDEXED BY oxpull_rate_window_age
     WHERE x.expires_at < strftime('%Y-%m-%d %H:%M:%f', :now, -:age || ' seconds') || '000'
     ORDER BY x.expires_at LIMIT :limit)
