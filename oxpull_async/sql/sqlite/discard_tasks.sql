-- discard_tasks: end rows that do not run, and failed or lost ones; matches the rows it moved.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET status = 'DISCARDED', due = NULL, waiting_for = NULL, finished_at = :now,
       recheck = CASE WHEN reruns THEN 1 ELSE recheck END
 WHERE id IN (SELECT value FROM json_each(:ids)) AND status IN ('READY', 'WAITING', 'FAILED', 'LOST')
