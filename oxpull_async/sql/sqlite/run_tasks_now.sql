-- run_tasks_now: let ready rows that are not due yet be claimed at once; matches the rows it moved.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET due = 1, available_at = :now
 WHERE id IN (SELECT value FROM json_each(:ids)) AND status = 'READY' AND available_at > :now
