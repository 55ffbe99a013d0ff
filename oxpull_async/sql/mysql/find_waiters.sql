-- find_waiters: lock the best rows of one queue that wait for a key and that the slots held now would let in.
SELECT t.id FROM oxpull_task AS t FORCE INDEX (oxpull_task_lock)
 WHERE t.lock_place = CONCAT('w', :lock_key, ' ', :backend_alias, ' ', :queue_name)
   AND t.backend_alias = :backend_alias AND t.queue_name = :queue_name AND t.lock_limit > :held
 ORDER BY t.`rank`, t.available_at, t.id LIMIT :free FOR UPDATE SKIP LOCKED
