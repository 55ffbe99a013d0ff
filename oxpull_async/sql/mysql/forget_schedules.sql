-- forget_schedules: delete declared schedules of an alias that have been due for more than `age` seconds; matches them.
DELETE FROM oxpull_schedule
 WHERE backend_alias = :backend_alias AND declared AND NOT paused
   AND next_at < :now - INTERVAL ROUND(:age * 1000000) MICROSECOND
