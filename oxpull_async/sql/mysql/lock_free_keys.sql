-- lock_free_keys: lock those lock rows of these keys that nobody else has locked; returns their keys.
SELECT u.unique_key
  FROM JSON_TABLE(:keys, '$[*]' COLUMNS (unique_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_unique AS u FORCE INDEX (PRIMARY) ON u.unique_key = j.unique_key
   FOR UPDATE SKIP LOCKED
