-- retry_tasks: make ended rows ready once more with one more attempt allowed; matches the rows it moved.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET status = 'READY', due = 1, epoch = epoch + 1, max_attempts = attempts + 1, available_at = :now,
       finished_at = NULL, cancel_requested = false
 WHERE id IN (SELECT value FROM json_each(:ids))
   AND (status IN ('FAILED', 'LOST') OR status = 'DISCARDED' AND :include_discarded)
