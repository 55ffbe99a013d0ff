-- set_apart: let these rows be found in the lanes of rate limits, those that are due and have no limit keys yet.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET limit_keys = ''
 WHERE id IN (SELECT value FROM json_each(:ids)) AND due = 1 AND limit_keys IS NULL
