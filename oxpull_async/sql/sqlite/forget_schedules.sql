-- forget_schedules: delete declared schedules of an alias that have been due for more than `age` seconds; matches them.
DELETE FROM oxpull_schedule
 WHERE backend_alias = :backend_alias AND declared AND NOT paused
   AND next_at < strftime('%Y-%m-%d %H:%M:%f', :now, -:age || ' seconds') || '000'
