-- find_statuses: these rows with their status, and what they wait for.
SELECT t.id, t.status, t.waiting_for FROM oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE t.id IN (SELECT value FROM json_each(:ids))
