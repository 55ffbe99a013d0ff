-- prune_starts: delete starts that no limit counts any more for `age` seconds; matches at most `limit` rows.
DELETE FROM oxpull_rate_start
 WHERE ctid = ANY(ARRAY(
    SELECT x.ctid FROM oxpull_rate_start x WHERE x.expires_at < :now - make_interval(secs => :age::float8)
     ORDER BY x.expires_at LIMIT (SELECT :limit::int) FOR UPDATE SKIP LOCKED))
