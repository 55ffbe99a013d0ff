-- release_follow_ups: make these follow-ups ready; one that was discarded meanwhile is left alone.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
   SET t.status = 'READY', t.waiting_for = NULL, t.due = IF(t.available_at > :now, 0, 1)
 WHERE t.waiting_for = 'follow_up'
