-- prunable_tasks: those of these rows that may go: they have a prunable status and age, no unexpired unique key names
-- them, no follow-up is to be looked at and no batch or workflow still counts on them. Locks nothing: there is one writer.
SELECT t.id FROM oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE t.id IN (SELECT value FROM json_each(:ids)) AND t.status IN (SELECT value FROM json_each(:statuses))
   AND t.finished_at < strftime('%Y-%m-%d %H:%M:%f', :now, -:age || ' seconds') || '000'
   AND (:backend_alias IS NULL OR t.backend_alias = :backend_alias)
   AND t.recheck IS NULL
   AND NOT EXISTS (SELECT 1 FROM oxpull_unique u
                    WHERE u.unique_key = t.unique_key AND u.holder_id = t.id AND u.expires_at > :now)
   AND NOT EXISTS (SELECT 1 FROM oxpull_batch_member m JOIN oxpull_batch_counts c ON c.batch_id = m.batch_id
                    WHERE m.task_id = t.id AND c.status <> 'COMPLETE')
   AND NOT EXISTS (SELECT 1 FROM oxpull_workflow_node n JOIN oxpull_workflow_counts c ON c.workflow_id = n.workflow_id
                    WHERE n.task_id = t.id AND c.status <> 'COMPLETE')
