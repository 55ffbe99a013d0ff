-- find_parkable: further due rows that would wait for a key of which `held` slots are taken, at most `limit`.
SELECT t.id FROM oxpull_task AS t INDEXED BY oxpull_task_lock_ready
 WHERE t.lock_key = :lock_key AND t.limit_keys IS NULL AND t.due = 1 AND t.lock_limit <= :held
   AND (t.lock_conflict = 'wait' OR t.attempts > 0)
 ORDER BY t."rank", t.available_at, t.id LIMIT :limit
