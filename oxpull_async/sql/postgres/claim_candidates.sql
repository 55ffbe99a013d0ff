-- claim_candidates: lock the best due rows of these stretches of queues that need no running lock; returns id, rank,
-- available_at.
SELECT best.id::text, best."rank", to_json(best.available_at AT TIME ZONE 'UTC') #>> '{}'
  FROM json_to_recordset(:queues::text::json) AS q(queue_name text, stretches json)
 CROSS JOIN LATERAL (
    SELECT found.id, found."rank", found.available_at
      FROM json_to_recordset(q.stretches) AS s("rank" smallint, available_at timestamptz, id uuid, below smallint)
     CROSS JOIN LATERAL (
        SELECT t.id, t."rank", t.available_at FROM oxpull_task t
         WHERE t.backend_alias = :backend_alias::text AND t.queue_name = q.queue_name AND t.due = 1
           AND t.lock_key IS NULL AND t.limit_keys IS NULL
           AND (t."rank", t.available_at, t.id) > (s."rank", s.available_at, s.id) AND t."rank" < s.below
           AND NOT (SELECT :excluded_paths::text::jsonb || COALESCE(jsonb_agg(x.path), '[]')
                      FROM oxpull_rate_limit l CROSS JOIN LATERAL jsonb_array_elements(l.tasks) AS x(path)
                     WHERE l.backend_alias = :backend_alias::text) ? t.task_path
         ORDER BY t."rank", t.available_at, t.id
         LIMIT (SELECT :limit::int) FOR UPDATE SKIP LOCKED) AS found
     LIMIT (SELECT :limit::int)) AS best
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_queue p
                    WHERE p.backend_alias = :backend_alias::text AND p.queue_name = q.queue_name AND p.paused)
   AND NOT EXISTS (SELECT 1 FROM oxpull_rate_limit l
                    WHERE l.backend_alias = :backend_alias::text AND l.queues ? q.queue_name)
 ORDER BY best."rank", best.available_at, best.id
 LIMIT :limit::int
