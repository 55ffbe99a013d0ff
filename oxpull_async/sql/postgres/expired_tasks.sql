-- expired_tasks: running rows whose worker is dead or gone, as the reaper needs them to decide.
SELECT t.id::text, t.epoch, t.attempts, t.max_attempts, t.begun, t.refunds, t.cancel_requested, t.leased_by::text,
       CASE WHEN t.reruns THEN t.unique_key END, t.lock_key
  FROM oxpull_task t
 WHERE t.leased_by IS NOT NULL AND t.status = 'RUNNING'
   AND NOT EXISTS (SELECT 1 FROM oxpull_worker w WHERE w.id = t.leased_by AND NOT w.dead)
 LIMIT :limit::int
