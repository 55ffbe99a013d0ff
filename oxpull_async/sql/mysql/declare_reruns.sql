-- declare_reruns: have the end of these rows, if it is still to come, looked at: a follow-up waits for it.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
   SET t.reruns = true
 WHERE NOT t.reruns AND t.status IN ('READY', 'WAITING', 'RUNNING')
