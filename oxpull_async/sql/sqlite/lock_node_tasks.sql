-- lock_node_tasks: these rows with their status. Locks nothing: there is one writer.
SELECT t.id, t.status FROM oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE t.id IN (SELECT value FROM json_each(:ids))
