-- note_schedule_task: remember which task the last tick of a schedule led to.
UPDATE oxpull_schedule SET last_task_id = :task_id WHERE id = :id
