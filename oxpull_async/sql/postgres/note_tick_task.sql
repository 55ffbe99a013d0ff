-- note_tick_task: remember which pending task a tick was answered with.
UPDATE oxpull_tick SET task_id = :task_id::text::uuid
 WHERE backend_alias = :backend_alias::text AND name = :name::text AND tick_at = :tick_at::text::timestamp AT TIME ZONE 'UTC'
