-- move_lock_schedule: a stored schedule of django-ox as it is now, unless somebody else has it locked.
SELECT s.name, s.task_key, s."trigger", s.cron, s.every_seconds, s.phase_seconds, s.arguments::text, s.enabled,
       to_json(s.start_time) #>> '{}', to_json(s.end_time) #>> '{}', s.starting_deadline_seconds
  FROM django_ox_oxschedule s
 WHERE s.id = :id::bigint
   FOR UPDATE SKIP LOCKED
