-- prune_tasks: delete these rows where they still have a prunable status and age.
DELETE FROM oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE id IN (SELECT value FROM json_each(:ids)) AND status IN (SELECT value FROM json_each(:statuses))
   AND finished_at < strftime('%Y-%m-%d %H:%M:%f', :now, -:age || ' seconds') || '000'
