-- limited_candidates: lock the best due rows of these lanes, of each as many as it has `places`, that nobody else has locked:
-- id, rank, available_at, lock key, lock limit, what a taken lock does, attempts, queue, task path, limit keys.
SELECT best.id::text, best."rank", to_json(best.available_at AT TIME ZONE 'UTC') #>> '{}', best.lock_key, best.lock_limit,
       best.lock_conflict, best.attempts, l.queue_name, l.task_path, l.limit_keys
  FROM json_to_recordset(:lanes::text::json) AS l(queue_name text, task_path text, limit_keys text, places int)
 CROSS JOIN LATERAL (
    SELECT t.id, t."rank", t.available_at, t.lock_key, t.lock_limit, t.lock_conflict, t.attempts FROM oxpull_task t
     WHERE t.backend_alias = :backend_alias::text AND t.queue_name = l.queue_name AND t.task_path = l.task_path
       AND t.limit_keys = l.limit_keys AND t.limit_keys IS NOT NULL AND t.due = 1
     ORDER BY t."rank", t.available_at, t.id
     LIMIT l.places FOR UPDATE SKIP LOCKED) AS best
