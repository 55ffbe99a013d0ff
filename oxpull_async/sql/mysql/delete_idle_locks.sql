-- delete_idle_locks: delete lock rows of running locks that no task runs under, waits for or is due with.
DELETE FROM oxpull_lock
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_task AS t WHERE t.lock_state = CONCAT('d', oxpull_lock.lock_key))
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS t WHERE t.lock_state = CONCAT('w', oxpull_lock.lock_key))
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS t WHERE t.lock_state = CONCAT('r', oxpull_lock.lock_key))
 LIMIT :limit
