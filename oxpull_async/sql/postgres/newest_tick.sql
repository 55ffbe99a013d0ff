-- newest_tick: the last tick of a schedule that has come by now.
SELECT to_json(max(t.tick_at)) #>> '{}'
  FROM oxpull_tick t
 WHERE t.backend_alias = :backend_alias::text AND t.name = :name::text AND t.tick_at <= :now
