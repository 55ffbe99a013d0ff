-- limited_candidates: the best due rows of one lane, at most `limit`:
-- id, rank, available_at, lock key, lock limit, what a taken lock does, attempts.
SELECT t.id, t."rank", t.available_at, t.lock_key, t.lock_limit, t.lock_conflict, t.attempts
  FROM oxpull_task AS t INDEXED BY oxpull_task_limited
 WHERE t.backend_alias = :backend_alias AND t.queue_name = :queue_name AND t.task_path = :task_path
   AND t.limit_keys = :limit_keys AND t.limit_keys IS NOT NULL AND t.due = 1
 ORDER BY t."rank", t.available_at, t.id
 LIMIT :limit
