-- count_ticks: how many ticks were noted more than `age` seconds ago.
SELECT count(*) FROM oxpull_tick t
 WHERE t.created_at < :now - make_interval(secs => :age::float8)
   AND (:backend_alias::text IS NULL OR t.backend_alias = :backend_alias::text)
