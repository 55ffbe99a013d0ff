-- discard_tasks: end rows that do not run, and failed or lost ones; matches the rows it moved.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
   SET t.status = 'DISCARDED', t.due = NULL, t.waiting_for = NULL, t.finished_at = :now,
       t.recheck = IF(t.reruns, 1, t.recheck)
 WHERE t.status IN ('READY', 'WAITING', 'FAILED', 'LOST')
