-- declare_reruns: have the end of these rows, if it is still to come, looked at: a follow-up waits for it.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET reruns = true
 WHERE id IN (SELECT value FROM json_each(:ids)) AND NOT reruns AND status IN ('READY', 'WAITING', 'RUNNING')
