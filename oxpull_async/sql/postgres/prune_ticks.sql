-- prune_ticks: delete ticks that were noted more than `age` seconds ago; matches at most `limit` rows.
DELETE FROM oxpull_tick
 WHERE ctid = ANY(ARRAY(
    SELECT t.ctid FROM oxpull_tick t WHERE t.created_at < :now - make_interval(secs => :age::float8)
       AND (:backend_alias::text IS NULL OR t.backend_alias = :backend_alias::text)
     ORDER BY t.created_at LIMIT (SELECT :limit::int) FOR UPDATE SKIP LOCKED))
