-- schedules: every schedule of an alias whole, in order of name, or the one with this name.
SELECT s.id, s.backend_alias, s.name, s.declared, s.cron, s.every, s.phase, s.tz, s.repeated_hour,
       s.catch_up, s.max_age, s.overlap, s.task_path, s.args, s.kwargs, s.queue_name, s.priority,
       s.paused, s.starts_at, s.ends_at, s.last_tick_at, s.next_at, s.last_task_id, s.version
  FROM oxpull_schedule AS s
 WHERE s.backend_alias = :backend_alias AND (:name IS NULL OR s.name = :name)
 ORDER BY s.name
