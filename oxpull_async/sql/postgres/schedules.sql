-- schedules: every schedule of an alias whole, in order of name, or the one with this name.
SELECT s.id::text, s.backend_alias, s.name, s.declared, s.cron, s.every, s.phase, s.tz,
       s.repeated_hour, s.catch_up, s.max_age, s.overlap, s.task_path, s.args::text, s.kwargs::text,
       s.queue_name, s.priority, s.paused, to_json(s.starts_at) #>> '{}',
       to_json(s.ends_at) #>> '{}', to_json(s.last_tick_at) #>> '{}', to_json(s.next_at) #>> '{}',
       s.last_task_id::text, s.version
  FROM oxpull_schedule s
 WHERE s.backend_alias = :backend_alias::text AND (:name::text IS NULL OR s.name = :name::text)
 ORDER BY s.name
