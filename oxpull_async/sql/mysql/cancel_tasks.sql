-- cancel_tasks: discard rows that do not run yet, and ask running ones to stop; matches the rows it changed.
-- The order of the assignments matters: status is the last, the others read it.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
   SET t.cancel_requested = t.status = 'RUNNING', t.due = NULL, t.waiting_for = NULL,
       t.recheck = IF(t.reruns AND t.status <> 'RUNNING', 1, t.recheck),
       t.finished_at = IF(t.status = 'RUNNING', NULL, :now),
       t.status = IF(t.status = 'RUNNING', 'RUNNING', 'DISCARDED')
 WHERE t.status IN ('READY', 'WAITING') OR t.status = 'RUNNING' AND NOT t.cancel_requested
