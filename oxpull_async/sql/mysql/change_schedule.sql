-- change_schedule: write a schedule anew where nobody has changed it meanwhile; matches one row, or none.
UPDATE oxpull_schedule
   SET name = :name, cron = :cron, every = :every, phase = :phase, tz = :tz,
       repeated_hour = :repeated_hour, catch_up = :catch_up, max_age = :max_age,
       overlap = :overlap, task_path = :task_path, args = :args, kwargs = :kwargs,
       queue_name = :queue_name, priority = :priority, paused = :paused,
       starts_at = CAST(:starts_at AS DATETIME(6)), ends_at = CAST(:ends_at AS DATETIME(6)),
       last_tick_at = CAST(:last_tick_at AS DATETIME(6)), next_at = CAST(:next_at AS DATETIME(6)),
       version = version + 1, changed_at = :now
 WHERE id = :id AND version = :version
