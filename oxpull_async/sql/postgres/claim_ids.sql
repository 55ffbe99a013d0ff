-- claim_ids: lease these rows, which the caller has locked and admitted, to a worker whose lease is good, before an instant
-- if one is given.
UPDATE oxpull_task AS c
   SET status = 'RUNNING', due = NULL, attempts = c.attempts + 1, epoch = c.epoch + 1,
       begun = c.task_path <> ALL (ARRAY(SELECT jsonb_array_elements_text(:later_paths::text::jsonb))),
       leased_by = :worker_id::text::uuid, worker_ids = c.worker_ids || to_jsonb(:worker_id::text),
       started_at = COALESCE(c.started_at, :now), prior_attempted_at = c.last_attempted_at, last_attempted_at = :now
 WHERE c.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid)) AND c.due = 1
   AND (:before::text IS NULL OR :now < :before::text::timestamp AT TIME ZONE 'UTC')
   AND EXISTS (SELECT 1 FROM oxpull_worker w
                WHERE w.id = :worker_id::text::uuid AND NOT w.dead AND w.lease_expires_at > :now)
RETURNING c.id::text, c.epoch, c.task_path, c.queue_name, c.priority, to_json(c.available_at) #>> '{}', c.args::text,
          c.kwargs::text, c.attempts, c.max_attempts, c.snoozes, c.timeout, c.begun,
          CASE WHEN c.reruns THEN c.unique_key END, c.lock_key, c.batch_id::text,
          c.workflow_id::text, c.limit_keys
