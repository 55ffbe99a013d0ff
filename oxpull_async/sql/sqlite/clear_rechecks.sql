-- clear_rechecks: take the recheck marks off.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET recheck = NULL
 WHERE id IN (SELECT value FROM json_each(:ids)) AND recheck = 1
