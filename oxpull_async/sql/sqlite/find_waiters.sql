-- find_waiters: the best rows that wait for a key in one place and that the slots held now would let in.
SELECT t.id FROM oxpull_task AS t INDEXED BY oxpull_task_lock_waiting
 WHERE t.lock_key = :lock_key AND t.waiting_for = 'lock' AND t.lock_limit > :held
   AND t.backend_alias = json_extract(:place, '$[0]') AND t.queue_name = json_extract(:place, '$[1]')
 ORDER BY t."rank", t.available_at, t.id LIMIT :free
