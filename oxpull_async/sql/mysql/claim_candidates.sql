-- claim_candidates: lock the best due rows of one queue that need no running lock, that lie beyond the mark and that nobody
-- else has locked: id, rank, available_at. Where rows outrank the mark, one of these comes, too: then there is no mark.
-- It is looked for from the mark backwards: forwards a range's end is seen at a row only, not at what is left of one.
(SELECT t.id, t.`rank`, t.available_at
   FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
  WHERE t.ready_lane = 1 AND t.backend_alias = :backend_alias AND t.queue_name = :queue_name
    AND t.limit_lane IS NULL AND t.limit_keys IS NULL AND t.`rank` < :mark_rank AND :mark_rank > -1000
    AND NOT JSON_CONTAINS(:excluded_paths, JSON_QUOTE(t.task_path))
    AND NOT EXISTS (SELECT 1 FROM oxpull_queue AS p
                     WHERE p.backend_alias = :backend_alias AND p.queue_name = :queue_name AND p.paused)
    AND NOT EXISTS (SELECT 1 FROM oxpull_rate_limit AS l
                     WHERE l.backend_alias = :backend_alias
                       AND (JSON_CONTAINS(l.queues, JSON_QUOTE(:queue_name))
                            OR JSON_CONTAINS(l.tasks, JSON_QUOTE(t.task_path))))
  ORDER BY t.`rank` DESC, t.available_at DESC, t.id DESC
  LIMIT 1 FOR UPDATE SKIP LOCKED)
 UNION ALL
(SELECT t.id, t.`rank`, t.available_at
   FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
  WHERE t.ready_lane = 1 AND t.backend_alias = :backend_alias AND t.queue_name = :queue_name
    AND t.limit_lane IS NULL AND t.limit_keys IS NULL
    AND (t.`rank` > :mark_rank OR t.`rank` = :mark_rank AND t.available_at > :mark_at
         OR t.`rank` = :mark_rank AND t.available_at = :mark_at AND t.id > :mark_id)
    AND NOT JSON_CONTAINS(:excluded_paths, JSON_QUOTE(t.task_path))
    AND NOT EXISTS (SELECT 1 FROM oxpull_queue AS p
                     WHERE p.backend_alias = :backend_alias AND p.queue_name = :queue_name AND p.paused)
    AND NOT EXISTS (SELECT 1 FROM oxpull_rate_limit AS l
                     WHERE l.backend_alias = :backend_alias
                       AND (JSON_CONTAINS(l.queues, JSON_QUOTE(:queue_name))
                            OR JSON_CONTAINS(l.tasks, JSON_QUOTE(t.task_path))))
  ORDER BY t.`rank`, t.available_at, t.id
  LIMIT :limit FOR UPDATE SKIP LOCKED)
