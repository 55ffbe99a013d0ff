-- retry_tasks: make ended rows ready once more with one more attempt allowed; matches the rows it moved.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
   SET t.status = 'READY', t.due = 1, t.epoch = t.epoch + 1, t.max_attempts = t.attempts + 1, t.available_at = :now,
       t.finished_at = NULL, t.cancel_requested = false
 WHERE t.status IN ('FAILED', 'LOST') OR t.status = 'DISCARDED' AND :include_discarded
