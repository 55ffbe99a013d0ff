-- lock_hanging: the running lock of each of these rows that has one, and whether the row is due.
-- Locks nothing: there is one writer, and this one is it.
SELECT t.lock_key, t.due = 1 FROM oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE t.id IN (SELECT value FROM json_each(:ids)) AND t.lock_key IS NOT NULL
