-- own_tasks: those of these rows that belong to an alias.
SELECT id FROM oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE id IN (SELECT value FROM json_each(:ids)) AND backend_alias = :backend_alias
