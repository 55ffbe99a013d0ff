-- mark_members: give the member rows of these tasks a recheck mark: their tasks have ended.
UPDATE oxpull_batch_member SET recheck = 1 WHERE task_id IN (SELECT value FROM json_each(:ids))
