-- refuse_tasks: end due rows whose running lock is taken and which do not wait for it; the errors say who holds it.
UPDATE JSON_TABLE(:tasks, '$[*]' COLUMNS (
            id CHAR(32) CHARACTER SET utf8mb4 PATH '$.id' ERROR ON ERROR,
            error LONGTEXT CHARACTER SET utf8mb4 PATH '$.error' ERROR ON ERROR)) AS n
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = n.id
   SET t.status = 'DISCARDED', t.due = NULL, t.finished_at = :now,
       t.errors = JSON_MERGE_PRESERVE(t.errors,
           JSON_SET(n.error, '$.at', DATE_FORMAT(:now, '%Y-%m-%dT%H:%i:%s.%f+00:00'))),
       t.recheck = IF(t.reruns, 1, t.recheck)
 WHERE t.due = 1
