-- prune_tasks: delete these rows, which the caller has found prunable.
DELETE FROM oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1 WHERE id IN (SELECT value FROM json_each(:ids))
