-- claim_candidates: lock the best due rows of these queues that need no running lock; returns id, rank, available_at.
SELECT best.id::text, best."rank", to_json(best.available_at AT TIME ZONE 'UTC') #>> '{}'
  FROM jsonb_array_elements_text(:queues::text::jsonb) AS q(queue_name)
 CROSS JOIN LATERAL (
    SELECT t.id, t."rank", t.available_at FROM oxpull_task t
     WHERE t.backend_alias = :backend_alias::text AND t.queue_name = q.queue_name AND t.due = 1
       AND t.lock_key IS NULL AND t.limit_keys IS NULL
       AND NOT (SELECT :excluded_paths::text::jsonb || COALESCE(jsonb_agg(x.path), '[]')
                  FROM oxpull_rate_limit l CROSS JOIN LATERAL jsonb_array_elements(l.tasks) AS x(path)
                 WHERE l.backend_alias = :backend_alias::text) ? t.task_path
     ORDER BY t."rank", t.available_at, t.id
     LIMIT (SELECT :limit::int) FOR UPDATE SKIP LOCKED) AS best
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_queue p
                    WHERE p.backend_alias = :backend_alias::text AND p.queue_name = q.queue_name AND p.paused)
   AND NOT EXISTS (SELECT 1 FROM oxpull_rate_limit l
                    WHERE l.backend_alias = :backend_alias::text AND l.queues ? q.queue_name)
 ORDER BY best."rank", best.available_at, best.id
 LIMIT :limit::int
