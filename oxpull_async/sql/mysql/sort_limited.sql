-- sort_limited: set due rows apart that a declared rate limit covers, but whose enqueue knew of none; at most `limit`.
UPDATE (SELECT d.id FROM oxpull_task AS d FORCE INDEX (oxpull_task_ready)
         WHERE d.ready_lane IN (1, 2) AND d.backend_alias = :backend_alias
           AND EXISTS (SELECT 1 FROM oxpull_rate_limit AS l
                        WHERE l.backend_alias = :backend_alias
                          AND (JSON_CONTAINS(l.queues, JSON_QUOTE(d.queue_name))
                               OR JSON_CONTAINS(l.tasks, JSON_QUOTE(d.task_path))))
         LIMIT :limit FOR UPDATE SKIP LOCKED) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
   SET t.limit_keys = ''
 WHERE t.due = 1 AND t.limit_keys IS NULL
