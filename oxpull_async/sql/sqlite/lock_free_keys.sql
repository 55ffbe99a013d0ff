-- lock_free_keys: the keys of this list that have a lock row. All are free: there is one writer, and this one is it.
SELECT u.unique_key FROM oxpull_unique AS u INDEXED BY sqlite_autoindex_oxpull_unique_1
 WHERE u.unique_key IN (SELECT value FROM json_each(:keys))
