-- unpark_tasks: make rows ready that waited for a running lock; returns nothing, matches the rows moved.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
   SET t.status = 'READY', t.waiting_for = NULL, t.due = 1
 WHERE t.waiting_for = 'lock'
