-- get_schedules: the schedules with these ids, whole.
SELECT s.id, s.backend_alias, s.name, s.declared, s.cron, s.every, s.phase, s.tz, s.repeated_hour,
       s.catch_up, s.max_age, s.overlap, s.task_path, s.args, s.kwargs, s.queue_name, s.priority,
       s.paused, s.starts_at, s.ends_at, s.last_tick_at, s.next_at, s.last_task_id, s.version
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_schedule AS s FORCE INDEX (PRIMARY) ON s.id = j.id
