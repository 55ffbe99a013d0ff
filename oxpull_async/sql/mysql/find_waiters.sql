-- find_waiters: lock the best rows that wait for a key in one place and that the slots held now would let in.
SELECT t.id FROM oxpull_task AS t FORCE INDEX (oxpull_task_lock)
 WHERE t.lock_state = CONCAT('w', :lock_key) AND t.lock_queue = :place AND t.lock_limit > :held
 ORDER BY t.`rank`, t.available_at, t.id LIMIT :free FOR UPDATE SKIP LOCKED
