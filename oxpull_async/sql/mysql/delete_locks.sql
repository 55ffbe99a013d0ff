-- delete_locks: delete these lock rows of running locks, which the caller has locked.
DELETE l
  FROM JSON_TABLE(:keys, '$[*]' COLUMNS (lock_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_lock AS l FORCE INDEX (PRIMARY) ON l.lock_key = j.lock_key
