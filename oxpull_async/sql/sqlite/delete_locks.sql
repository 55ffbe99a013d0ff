-- delete_locks: delete these lock rows of running locks.
DELETE FROM oxpull_lock INDEXED BY sqlite_autoindex_oxpull_lock_1 WHERE lock_key IN (SELECT value FROM json_each(:keys))
