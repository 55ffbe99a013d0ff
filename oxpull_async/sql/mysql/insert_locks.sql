-- insert_locks: make the lock rows of these keys, in the order given, where there are none, and lock them all.
INSERT INTO oxpull_lock (lock_key)
SELECT j.lock_key
  FROM JSON_TABLE(:keys, '$[*]' COLUMNS (lock_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$')) AS j
    ON DUPLICATE KEY UPDATE oxpull_lock.lock_key = oxpull_lock.lock_key
