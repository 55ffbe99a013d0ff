-- overdue_schedules: the schedules whose tick has come over a minute ago, and for how many seconds it has been due.
SELECT s.name, TIMESTAMPDIFF(MICROSECOND, s.next_at, :now) / 1000000
  FROM oxpull_schedule AS s
 WHERE s.backend_alias = :backend_alias AND NOT s.paused AND TIMESTAMPDIFF(MICROSECOND, s.next_at, :now) / 1000000 > 60
 ORDER BY s.name
