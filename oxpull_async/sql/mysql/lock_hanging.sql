-- lock_hanging: lock these rows, in the order given, those with a running lock; returns it, and whether the row is due.
SELECT t.lock_key, t.due = 1
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
 WHERE t.lock_key IS NOT NULL
   FOR UPDATE
