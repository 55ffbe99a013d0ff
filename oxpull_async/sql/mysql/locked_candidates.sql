-- locked_candidates: lock the best due rows of one queue that need a running lock and that nobody else has locked:
-- id, rank, available_at, lock key, lock limit, what a taken lock does, attempts.
SELECT t.id, t.`rank`, t.available_at, t.lock_key, t.lock_limit, t.lock_conflict, t.attempts
  FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
 WHERE t.ready_lane = 2 AND t.backend_alias = :backend_alias AND t.queue_name = :queue_name
   AND t.limit_lane IS NULL AND t.limit_keys IS NULL
   AND NOT JSON_CONTAINS(:excluded_paths, JSON_QUOTE(t.task_path))
   AND NOT EXISTS (SELECT 1 FROM oxpull_queue AS p
                    WHERE p.backend_alias = :backend_alias AND p.queue_name = :queue_name AND p.paused)
   AND NOT EXISTS (SELECT 1 FROM oxpull_rate_limit AS l
                    WHERE l.backend_alias = :backend_alias
                      AND (JSON_CONTAINS(l.queues, JSON_QUOTE(:queue_name))
                           OR JSON_CONTAINS(l.tasks, JSON_QUOTE(t.task_path))))
 ORDER BY t.`rank`, t.available_at, t.id
 LIMIT :limit FOR UPDATE SKIP LOCKED
