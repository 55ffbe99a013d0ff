-- release_follow_ups: make these follow-ups ready; one that was discarded meanwhile is left alone.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET status = 'READY', waiting_for = NULL, due = CASE WHEN available_at > :now THEN 0 ELSE 1 END
 WHERE id IN (SELECT value FROM json_each(:ids)) AND waiting_for = 'follow_up'
