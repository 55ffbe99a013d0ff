-- lock_members: the member rows of these tasks: task, batch, what it is counted as. Locks nothing.
SELECT m.task_id, m.batch_id, m.counted FROM oxpull_batch_member AS m WHERE m.task_id IN (SELECT value FROM json_each(:ids))
