-- discard_nodes: end rows that waited for edges, an upstream of theirs having ended badly; the errors say which.
UPDATE JSON_TABLE(:tasks, '$[*]' COLUMNS (
            id CHAR(32) CHARACTER SET utf8mb4 PATH '$.id' ERROR ON ERROR,
            error LONGTEXT CHARACTER SET utf8mb4 PATH '$.error' ERROR ON ERROR)) AS n
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = n.id
   SET t.status = 'DISCARDED', t.waiting_for = NULL, t.due = NULL, t.finished_at = :now,
       t.errors = JSON_MERGE_PRESERVE(t.errors,
           JSON_SET(n.error, '$.at', DATE_FORMAT(:now, '%Y-%m-%dT%H:%i:%s.%f+00:00'))),
       t.recheck = IF(t.reruns, 1, t.recheck)
 WHERE t.waiting_for = 'edges'
