-- insert_schedule: store a schedule unless one of its alias has this name already; matches one row, or none.
INSERT INTO oxpull_schedule (
    id, backend_alias, name, declared, cron, every, phase, tz, repeated_hour, catch_up, max_age, overlap, task_path,
    args, kwargs, queue_name, priority, paused, starts_at, ends_at, last_tick_at, next_at, last_task_id, version,
    created_at, changed_at)
SELECT
    :id, :backend_alias, :name, :declared, :cron, :every, :phase,
    :tz, :repeated_hour, :catch_up, :max_age, :overlap, :task_path,
    :args, :kwargs, :queue_name, :priority, :paused,
    :starts_at, :ends_at, :last_tick_at,
    :next_at, NULL, 1, :now, :now
 WHERE true
ON CONFLICT (backend_alias, name) DO NOTHING
