-- cancel_tasks: discard rows that do not run yet, and ask running ones to stop; matches the rows it changed.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET status = CASE WHEN status = 'RUNNING' THEN 'RUNNING' ELSE 'DISCARDED' END,
       cancel_requested = status = 'RUNNING', due = NULL, waiting_for = NULL,
       recheck = CASE WHEN reruns AND status <> 'RUNNING' THEN 1 ELSE recheck END,
       finished_at = CASE WHEN status = 'RUNNING' THEN NULL ELSE :now END
 WHERE id IN (SELECT value FROM json_each(:ids))
   AND (status IN ('READY', 'WAITING') OR status = 'RUNNING' AND NOT cancel_requested)
