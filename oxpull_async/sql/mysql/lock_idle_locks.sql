-- lock_idle_locks: lock the next lock rows of running locks that no task runs under, waits for or is due with, and nobody holds.
-- A DELETE that asked this itself would lock the tasks too, and so wait for others' transactions.
SELECT l.lock_key FROM oxpull_lock AS l
 WHERE l.lock_key > :after
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS t FORCE INDEX (oxpull_task_lock) WHERE t.lock_state = CONCAT('d', l.lock_key))
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS t FORCE INDEX (oxpull_task_lock) WHERE t.lock_state = CONCAT('w', l.lock_key))
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS t FORCE INDEX (oxpull_task_lock) WHERE t.lock_state = CONCAT('r', l.lock_key))
 ORDER BY l.lock_key LIMIT :limit FOR UPDATE SKIP LOCKED
