-- park_tasks: let due rows wait for their running lock; attempts, epoch and place in the order stay.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
   SET t.status = 'WAITING', t.waiting_for = 'lock', t.due = NULL
 WHERE t.due = 1
