-- schedule_outlook: of every schedule that is not paused, in how many seconds it is due, whether it is due, and whether
-- it is ahead of the clock, which was put back.
SELECT s.id, TIMESTAMPDIFF(MICROSECOND, :now, s.next_at) / 1000000, COALESCE(s.next_at <= :now, false),
       COALESCE(s.last_tick_at > :now, false) OR (s.declared AND s.starts_at > :now)
  FROM oxpull_schedule AS s
 WHERE s.backend_alias = :backend_alias AND NOT s.paused
