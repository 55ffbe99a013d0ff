-- prune_starts: delete starts that no limit counts any more for `age` seconds; matches at most `limit` rows.
DELETE FROM oxpull_rate_start
 WHERE expires_at < :now - INTERVAL ROUND(:age * 1000000) MICROSECOND ORDER BY expires_at LIMIT :limit
