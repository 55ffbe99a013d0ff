-- prune_ticks: delete ticks that were noted more than `age` seconds ago; matches at most `limit` rows.
DELETE FROM oxpull_tick
 WHERE created_at < :now - INTERVAL ROUND(:age * 1000000) MICROSECOND
   AND (:backend_alias IS NULL OR backend_alias = :backend_alias)
 ORDER BY created_at LIMIT :limit
