-- change_schedule: write a schedule anew where nobody has changed it meanwhile; matches one row, or none.
UPDATE oxpull_schedule
   SET name = :name::text, cron = :cron::text, every = :every::float8, phase = :phase::float8, tz = :tz::text,
       repeated_hour = :repeated_hour::text, catch_up = :catch_up::text, max_age = :max_age::float8,
       overlap = :overlap::text, task_path = :task_path::text, args = :args::text::jsonb, kwargs = :kwargs::text::jsonb,
       queue_name = :queue_name::text, priority = :priority::int, paused = :paused::boolean,
       starts_at = :starts_at::text::timestamp AT TIME ZONE 'UTC', ends_at = :ends_at::text::timestamp AT TIME ZONE 'UTC',
       last_tick_at = :last_tick_at::text::timestamp AT TIME ZONE 'UTC', next_at = :next_at::text::timestamp AT TIME ZONE 'UTC',
       version = version + 1, changed_at = :now
 WHERE id = :id::text::uuid AND version = :version::bigint
