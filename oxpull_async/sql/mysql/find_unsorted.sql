-- find_unsorted: due rows that a declared rate limit covers, but whose enqueue knew of none; at most `limit` of each index.
SELECT t.id
  FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
 WHERE t.ready_lane IN (1, 2) AND t.backend_alias = :backend_alias
   AND EXISTS (SELECT 1 FROM oxpull_rate_limit AS l
                WHERE l.backend_alias = :backend_alias
                  AND (JSON_CONTAINS(l.queues, JSON_QUOTE(t.queue_name))
                       OR JSON_CONTAINS(l.tasks, JSON_QUOTE(t.task_path))))
 LIMIT :limit
