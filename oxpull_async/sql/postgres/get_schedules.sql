-- get_schedules: the schedules with these ids, whole.
SELECT s.id::text, s.backend_alias, s.name, s.declared, s.cron, s.every, s.phase, s.tz,
       s.repeated_hour, s.catch_up, s.max_age, s.overlap, s.task_path, s.args::text, s.kwargs::text,
       s.queue_name, s.priority, s.paused, to_json(s.starts_at) #>> '{}',
       to_json(s.ends_at) #>> '{}', to_json(s.last_tick_at) #>> '{}', to_json(s.next_at) #>> '{}',
       s.last_task_id::text, s.version
  FROM oxpull_schedule s
 WHERE s.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
