-- limited_candidates: lock the best due rows of one lane that nobody else has locked, at most `limit`:
-- id, rank, available_at, lock key, lock limit, what a taken lock does, attempts.
SELECT t.id, t.`rank`, t.available_at, t.lock_key, t.lock_limit, t.lock_conflict, t.attempts
  FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
 WHERE t.ready_lane = 3 AND t.backend_alias = :backend_alias AND t.queue_name = :queue_name
   AND t.limit_lane = :task_path AND t.limit_keys = :limit_keys
 ORDER BY t.`rank`, t.available_at, t.id
 LIMIT :limit FOR UPDATE SKIP LOCKED
