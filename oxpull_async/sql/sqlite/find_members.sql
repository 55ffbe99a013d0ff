-- find_members: which of these tasks are members of a batch, whose row the caller has locked.
SELECT m.task_id FROM oxpull_batch_member AS m
 WHERE m.task_id IN (SELECT value FROM json_each(:ids)) AND m.batch_id = :batch_id
