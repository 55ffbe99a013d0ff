-- prune_tasks: delete these rows where they still have a prunable status and age,
-- no unexpired unique key names them and no follow-up is to be looked at.
DELETE FROM oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE id IN (SELECT value FROM json_each(:ids)) AND status IN (SELECT value FROM json_each(:statuses))
   AND finished_at < strftime('%Y-%m-%d %H:%M:%f', :now, -:age || ' seconds') || '000'
   AND recheck IS NULL
   AND NOT EXISTS (SELECT 1 FROM oxpull_unique u
                    WHERE u.unique_key = oxpull_task.unique_key AND u.holder_id = oxpull_task.id AND u.expires_at > :now)
