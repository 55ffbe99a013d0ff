-- count_ticks: how many ticks were noted more than `age` seconds ago.
SELECT count(*) FROM oxpull_tick AS t
 WHERE t.created_at < strftime('%Y-%m-%d %H:%M:%f', :now, -:age || ' seconds') || '000'
   AND (:backend_alias IS NULL OR t.backend_alias = :backend_alias)
