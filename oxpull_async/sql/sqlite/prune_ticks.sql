-- prune_ticks: delete ticks that were noted more than `age` seconds ago; matches at most `limit` rows.
DELETE FROM oxpull_tick
 WHERE rowid IN (
    SELECT t.rowid FROM oxpull_tick AS t
     WHERE t.created_at < strftime('%Y-%m-%d %H:%M:%f', :now, -:age || ' seconds') || '000'
       AND (:backend_alias IS NULL OR t.backend_alias = :backend_alias)
     ORDER BY t.created_at LIMIT :limit)
