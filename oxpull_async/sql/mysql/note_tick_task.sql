-- note_tick_task: remember which pending task a tick was answered with.
UPDATE oxpull_tick SET task_id = :task_id
 WHERE backend_alias = :backend_alias AND name = :name AND tick_at = CAST(:tick_at AS DATETIME(6))
