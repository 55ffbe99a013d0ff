-- keys_of_tasks: what hangs on these rows: the key of a follow-up, for rows declared to rerun, and the running lock.
SELECT t.id, CASE WHEN t.reruns THEN t.unique_key END, t.lock_key
  FROM oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE t.id IN (SELECT value FROM json_each(:ids)) AND (t.reruns OR t.lock_key IS NOT NULL)
