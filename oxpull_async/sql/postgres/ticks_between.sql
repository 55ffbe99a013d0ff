-- ticks_between: the ticks of a schedule from an instant to another, with the tasks that they led to.
SELECT to_json(t.tick_at) #>> '{}', t.task_id::text
  FROM oxpull_tick t
 WHERE t.backend_alias = :backend_alias::text AND t.name = :name::text
   AND t.tick_at >= :since::text::timestamp AT TIME ZONE 'UTC' AND t.tick_at <= :until::text::timestamp AT TIME ZONE 'UTC'
 ORDER BY t.tick_at
