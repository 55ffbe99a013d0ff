-- insert_schedule: store a schedule unless one of its alias has this name already; matches one row, or none.
INSERT INTO oxpull_schedule (
    id, backend_alias, name, declared, cron, every, phase, tz, repeated_hour, catch_up, max_age, overlap, task_path,
    args, kwargs, queue_name, priority, paused, starts_at, ends_at, last_tick_at, next_at, last_task_id, version,
    created_at, changed_at)
SELECT
    :id::text::uuid, :backend_alias::text, :name::text, :declared::boolean, :cron::text, :every::float8, :phase::float8,
    :tz::text, :repeated_hour::text, :catch_up::text, :max_age::float8, :overlap::text, :task_path::text,
    :args::text::jsonb, :kwargs::text::jsonb, :queue_name::text, :priority::int, :paused::boolean,
    :starts_at::text::timestamp AT TIME ZONE 'UTC', :ends_at::text::timestamp AT TIME ZONE 'UTC', :last_tick_at::text::timestamp AT TIME ZONE 'UTC',
    :next_at::text::timestamp AT TIME ZONE 'UTC', NULL, 1, :now, :now
ON CONFLICT (backend_alias, name) DO NOTHING
