-- claim: lease locked candidates to a worker whose lease is good, before an instant if one is given.
-- By a list of ids, since an update of one table takes half the time of one by a join.
-- The order of the assignments matters: each reads columns that have not been assigned yet.
UPDATE oxpull_task AS t FORCE INDEX (PRIMARY)
   SET t.status = 'RUNNING', t.due = NULL, t.attempts = t.attempts + 1, t.epoch = t.epoch + 1,
       t.begun = NOT JSON_CONTAINS(:later_paths, JSON_QUOTE(t.task_path)),
       t.leased_by = :worker_id, t.worker_ids = JSON_ARRAY_APPEND(t.worker_ids, '$', :worker_id),
       t.started_at = COALESCE(t.started_at, :now), t.prior_attempted_at = t.last_attempted_at,
       t.last_attempted_at = :now
 WHERE t.id IN :ids AND t.due = 1 AND (:before IS NULL OR :now < :before)
   AND EXISTS (SELECT 1 FROM oxpull_worker AS w
                WHERE w.id = :worker_id AND NOT w.dead AND w.lease_expires_at > :now)
