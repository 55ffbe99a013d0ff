-- prune_windows: delete windows that ended more than `age` seconds ago; matches at most `limit` rows.
DELETE FROM oxpull_rate_window
 WHERE expires_at < :now - INTERVAL ROUND(:age * 1000000) MICROSECOND ORDER BY expires_at LIMIT :limit
