-- overdue_schedules: the schedules whose tick has come over a minute ago, and for how many seconds it has been due.
SELECT s.name, (julianday(:now) - julianday(s.next_at)) * 86400.0
  FROM oxpull_schedule AS s
 WHERE s.backend_alias = :backend_alias AND NOT s.paused AND (julianday(:now) - julianday(s.next_at)) * 86400.0 > 60
 ORDER BY s.name
