-- expired_tasks: running rows whose worker is dead or gone, as the reaper needs them to decide.
-- The recursion steps from worker to worker through the lease index, so rows of living workers are not read.
WITH RECURSIVE holder(id) AS (
    (SELECT t.leased_by FROM oxpull_task t WHERE t.leased_by IS NOT NULL ORDER BY t.leased_by LIMIT 1)
    UNION ALL
    SELECT (SELECT t.leased_by FROM oxpull_task t WHERE t.leased_by > h.id ORDER BY t.leased_by LIMIT 1)
      FROM holder h WHERE h.id IS NOT NULL
)
SELECT t.id::text, t.epoch, t.attempts, t.max_attempts, t.begun, t.refunds, t.cancel_requested, t.leased_by::text,
       CASE WHEN t.reruns THEN t.unique_key END, t.lock_key, t.batch_id::text, t.workflow_id::text
  FROM holder h
 CROSS JOIN LATERAL (
    SELECT r.* FROM oxpull_task r
     WHERE r.leased_by = h.id AND r.status || '' = 'RUNNING' LIMIT (SELECT :limit::int)) AS t
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_worker w WHERE w.id = h.id AND NOT w.dead)
 LIMIT :limit::int
