-- taken_slots: the attempts that hold slots of these keys: key, task, attempt and worker. A running row is its own slot.
SELECT t.lock_key, t.id, t.attempts, t.leased_by
  FROM JSON_TABLE(:keys, '$[*]' COLUMNS (lock_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (oxpull_task_lock) ON t.lock_state = CONCAT('r', j.lock_key)
 WHERE t.status = 'RUNNING'
