-- claim: lease the best due rows of these queues to a worker whose lease is good; of a queue, one stretch after another.
-- Shapes that keep the plan whatever the statistics say: ARRAY for the primary key; a LIMIT that the planner cannot see
-- and a filter whose selectivity it cannot guess for the order of the ready index. Rows come back unordered.
UPDATE oxpull_task AS c
   SET status = 'RUNNING', due = NULL, attempts = c.attempts + 1, epoch = c.epoch + 1,
       begun = c.task_path <> ALL (ARRAY(SELECT jsonb_array_elements_text(:later_paths::text::jsonb))),
       leased_by = :worker_id::text::uuid, worker_ids = c.worker_ids || to_jsonb(:worker_id::text),
       started_at = COALESCE(c.started_at, :now), prior_attempted_at = c.last_attempted_at, last_attempted_at = :now
 WHERE c.id = ANY(ARRAY(
    SELECT best.id
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
     LIMIT :limit::int))
   AND EXISTS (SELECT 1 FROM oxpull_worker w
                WHERE w.id = :worker_id::text::uuid AND NOT w.dead AND w.lease_expires_at > :now)
RETURNING c.id::text, c.epoch, c.task_path, c.queue_name, c.priority, to_json(c.available_at) #>> '{}', c.args::text,
          c.kwargs::text, c.attempts, c.max_attempts, c.snoozes, c.timeout, c.begun,
          CASE WHEN c.reruns THEN c.unique_key END, c.lock_key, c.batch_id::text,
          c.workflow_id::text, c.limit_keys
