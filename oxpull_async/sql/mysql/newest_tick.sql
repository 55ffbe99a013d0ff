-- newest_tick: the last tick of a schedule that has come by now.
SELECT max(t.tick_at)
  FROM oxpull_tick AS t
 WHERE t.backend_alias = :backend_alias AND t.name = :name AND t.tick_at <= :now
