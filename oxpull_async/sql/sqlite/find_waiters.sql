-- find_waiters: the best rows of one queue that wait for a key and that the slots held now would let in.
SELECT t.id FROM oxpull_task AS t INDEXED BY oxpull_task_lock_waiting
 WHERE t.lock_key = :lock_key AND t.waiting_for = 'lock'
   AND t.backend_alias = :backend_alias AND t.queue_name = :queue_name AND t.lock_limit > :held
 ORDER BY t."rank", t.available_at, t.id LIMIT :free
