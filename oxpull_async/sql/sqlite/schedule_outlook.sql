-- schedule_outlook: of every schedule that is not paused, in how many seconds it is due, whether it is due, and whether
-- it is ahead of the clock, which was put back.
SELECT s.id, (julianday(s.next_at) - julianday(:now)) * 86400.0, COALESCE(s.next_at <= :now, false),
       COALESCE(s.last_tick_at > :now, false) OR (s.declared AND s.starts_at > :now)
  FROM oxpull_schedule AS s
 WHERE s.backend_alias = :backend_alias AND NOT s.paused
