-- insert_locks: make the lock rows of these keys, in order, where there are none.
INSERT INTO oxpull_lock (lock_key)
SELECT n.lock_key FROM jsonb_array_elements_text(:keys::text::jsonb) AS n(lock_key) ORDER BY n.lock_key
ON CONFLICT (lock_key) DO NOTHING
