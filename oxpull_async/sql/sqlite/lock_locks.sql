-- lock_locks: the keys of this list that have a lock row. Locks nothing: there is one writer, and this one is it.
SELECT l.lock_key FROM oxpull_lock AS l INDEXED BY sqlite_autoindex_oxpull_lock_1
 WHERE l.lock_key IN (SELECT value FROM json_each(:keys))
