-- overdue_schedules: the schedules whose tick has come over a minute ago, and for how many seconds it has been due.
SELECT s.name, EXTRACT(EPOCH FROM :now - s.next_at)::float8
  FROM oxpull_schedule s
 WHERE s.backend_alias = :backend_alias::text AND NOT s.paused AND EXTRACT(EPOCH FROM :now - s.next_at)::float8 > 60
 ORDER BY s.name
