-- find_parkable: lock further due rows that would wait for a key of which `held` slots are taken, at most `limit`.
SELECT t.id::text FROM oxpull_task t
 WHERE t.lock_key = :lock_key::text AND t.limit_keys IS NULL AND t.due + 0 = 1 AND t.lock_limit <= :held::int
   AND (t.lock_conflict = 'wait' OR t.attempts > 0)
 ORDER BY t."rank", t.available_at, t.id LIMIT (SELECT :limit::int) FOR UPDATE SKIP LOCKED
