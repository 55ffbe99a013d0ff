-- waiting_places: where rows wait for these keys: key, alias, queue, and how many slots of the key are held.
-- Every queue that has rows is tried with every key: the index steps from queue to queue for a constant only.
SELECT j.lock_key, q.backend_alias, q.queue_name,
       (SELECT COUNT(*) FROM oxpull_task AS h FORCE INDEX (oxpull_task_lock) WHERE h.lock_place = CONCAT('r', j.lock_key))
  FROM JSON_TABLE(:keys, '$[*]' COLUMNS (lock_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN (
    SELECT DISTINCT p.due, p.backend_alias, p.queue_name FROM oxpull_task AS p FORCE INDEX (oxpull_task_ready)
     WHERE p.due IS NULL) AS q
 WHERE EXISTS (
    SELECT 1 FROM oxpull_task AS t FORCE INDEX (oxpull_task_lock)
     WHERE t.lock_place = CONCAT('w', j.lock_key COLLATE utf8mb4_bin, ' ', q.backend_alias, ' ', q.queue_name)
       AND t.backend_alias = q.backend_alias AND t.queue_name = q.queue_name)
