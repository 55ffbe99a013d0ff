-- unpark_tasks: make rows ready that waited for a running lock; returns nothing, matches the rows moved.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET status = 'READY', waiting_for = NULL, due = 1
 WHERE id IN (SELECT value FROM json_each(:ids)) AND waiting_for = 'lock'
