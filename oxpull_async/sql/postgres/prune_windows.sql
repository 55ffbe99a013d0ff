-- prune_windows: delete windows that ended more than `age` seconds ago; matches at most `limit` rows.
DELETE FROM oxpull_rate_window
 WHERE ctid = ANY(ARRAY(
    SELECT x.ctid FROM oxpull_rate_window x WHERE x.expires_at < :now - make_interval(secs => :age::float8)
     ORDER BY x.expires_at LIMIT (SELECT :limit::int) FOR UPDATE SKIP LOCKED))
