-- mark_rechecks: give these rows a recheck mark: what they wait for may have happened already.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET recheck = 1
 WHERE id IN (SELECT value FROM json_each(:ids))
