-- lock_locks: lock the lock rows of these keys, in the order given; whoever parks, takes or frees a slot holds them.
SELECT l.lock_key
  FROM JSON_TABLE(:keys, '$[*]' COLUMNS (lock_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_lock AS l FORCE INDEX (PRIMARY) ON l.lock_key = j.lock_key
   FOR UPDATE
