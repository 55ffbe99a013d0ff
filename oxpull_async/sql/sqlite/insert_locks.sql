-- insert_locks: make the lock rows of these keys where there are none.
INSERT INTO oxpull_lock (lock_key) SELECT value FROM json_each(:keys) WHERE true
ON CONFLICT (lock_key) DO NOTHING
