-- run_tasks_now: let ready rows that are not due yet be claimed at once; matches the rows it moved.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
   SET t.due = 1, t.available_at = :now
 WHERE t.status = 'READY' AND t.available_at > :now
