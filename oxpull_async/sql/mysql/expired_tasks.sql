-- expired_tasks: running rows whose worker is dead or gone, as the reaper needs them to decide.
SELECT t.id, t.epoch, t.attempts, t.max_attempts, t.begun, t.refunds, t.cancel_requested, t.leased_by,
       IF(t.reruns, t.unique_key, NULL), t.lock_key, t.batch_id, t.workflow_id
  FROM oxpull_task AS t FORCE INDEX (oxpull_task_leased)
 WHERE t.leased_by IS NOT NULL AND t.status = 'RUNNING'
   AND NOT EXISTS (SELECT 1 FROM oxpull_worker AS w WHERE w.id = t.leased_by AND NOT w.dead)
 LIMIT :limit
