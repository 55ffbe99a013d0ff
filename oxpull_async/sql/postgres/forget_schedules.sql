-- forget_schedules: delete declared schedules of an alias that have been due for more than `age` seconds; matches them.
DELETE FROM oxpull_schedule AS s
 WHERE s.backend_alias = :backend_alias::text AND s.declared AND NOT s.paused
   AND s.next_at < :now - make_interval(secs => :age::float8)
