-- waiting_places: for each of these keys: how many slots are held, and the first place where rows wait for it, or NULL.
SELECT j.lock_key,
       (SELECT COUNT(*) FROM oxpull_task AS h FORCE INDEX (oxpull_task_lock) WHERE h.lock_state = CONCAT('r', j.lock_key)),
       (SELECT t.lock_queue FROM oxpull_task AS t FORCE INDEX (oxpull_task_lock)
         WHERE t.lock_state = CONCAT('w', j.lock_key) ORDER BY t.lock_queue LIMIT 1)
  FROM JSON_TABLE(:keys, '$[*]' COLUMNS (lock_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$')) AS j
