-- ticks_between: the ticks of a schedule from an instant to another, with the tasks that they led to.
SELECT t.tick_at, t.task_id
  FROM oxpull_tick AS t
 WHERE t.backend_alias = :backend_alias AND t.name = :name
   AND t.tick_at >= :since AND t.tick_at <= :until
 ORDER BY t.tick_at
