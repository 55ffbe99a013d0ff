-- lock_followed_tasks: those of these rows that are of a batch or a workflow, with their status, whether they are of a
-- batch, and the workflow. Locks nothing: there is one writer.
SELECT t.id, t.status, t.batch_id IS NOT NULL, t.workflow_id FROM oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE t.id IN (SELECT value FROM json_each(:ids)) AND (t.batch_id IS NOT NULL OR t.workflow_id IS NOT NULL)
