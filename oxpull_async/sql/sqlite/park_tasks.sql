-- park_tasks: let due rows wait for their running lock; attempts, epoch and place in the order stay.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET status = 'WAITING', waiting_for = 'lock', due = NULL
 WHERE id IN (SELECT value FROM json_each(:ids)) AND due = 1
