-- prune_starts: delete starts that no limit counts any more for `age` seconds; matches at most `limit` rows.
DELETE FROM oxpull_rate_start
 WHERE rowid IN (
    SELECT x.rowid FROM oxpull_rate_start AS x INDEXED BY oxpull_rate_start_age
     WHERE x.expires_at < strftime('%Y-%m-%d %H:%M:%f', :now, -:age || ' seconds') || '000'
     ORDER BY x.expires_at LIMIT :limit)
