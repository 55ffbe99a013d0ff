-- prune_tasks: delete these rows where they still have a prunable status and age,
-- no unexpired unique key names them, no follow-up is to be looked at and no batch or workflow still counts on them.
DELETE FROM oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE id IN (SELECT value FROM json_each(:ids)) AND status IN (SELECT value FROM json_each(:statuses))
   AND finished_at < strftime('%Y-%m-%d %H:%M:%f', :now, -:age || ' seconds') || '000'
   AND recheck IS NULL
   AND NOT EXISTS (SELECT 1 FROM oxpull_unique u
                    WHERE u.unique_key = oxpull_task.unique_key AND u.holder_id = oxpull_task.id AND u.expires_at > :now)
   AND NOT EXISTS (SELECT 1 FROM oxpull_batch_member m JOIN oxpull_batch_counts c ON c.batch_id = m.batch_id
                    WHERE m.task_id = oxpull_task.id AND c.status <> 'COMPLETE')
   AND NOT EXISTS (SELECT 1 FROM oxpull_workflow_node n JOIN oxpull_workflow_counts c ON c.workflow_id = n.workflow_id
                    WHERE n.task_id = oxpull_task.id AND c.status <> 'COMPLETE')
