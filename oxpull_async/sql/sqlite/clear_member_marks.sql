-- clear_member_marks: take the recheck marks off the member rows of these tasks.
UPDATE oxpull_batch_member SET recheck = NULL WHERE task_id IN (SELECT value FROM json_each(:ids)) AND recheck = 1
