-- settle: write outcomes, each fenced by its epoch; returns id, epoch, status, key to recheck and batch of what counted.
-- Differs because RETURNING sees new values only (and SQLite 3.40 calls none of them NULL): prior_attempted_at, of no
-- meaning once an attempt has ended, is set to NULL exactly by a refund, and so tells by how much the epoch moved.
WITH o AS MATERIALIZED (
    SELECT json_extract(j.value, '$.id') AS id, json_extract(j.value, '$.epoch') AS epoch,
           json_extract(j.value, '$.status') AS status, json_extract(j.value, '$.value') AS value,
           json_extract(j.value, '$.error') AS error, json_extract(j.value, '$.delay') AS delay,
           json_extract(j.value, '$.refund') AS refund
      FROM json_each(:outcomes) AS j
)
UPDATE oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
   SET status = CASE WHEN t.cancel_requested AND o.status <> 'SUCCESSFUL' THEN 'DISCARDED' ELSE o.status END,
       due = CASE WHEN o.status <> 'READY' OR t.cancel_requested THEN NULL WHEN o.delay > 0 THEN 0 ELSE 1 END,
       available_at = CASE WHEN o.status = 'READY' AND o.delay IS NOT NULL
                           THEN strftime('%Y-%m-%d %H:%M:%f', :now, o.delay || ' seconds') || '000'
                           ELSE t.available_at END,
       finished_at = CASE WHEN o.status = 'READY' AND NOT t.cancel_requested THEN NULL ELSE :now END,
       return_value = CASE WHEN o.status = 'SUCCESSFUL' THEN o.value END,
       errors = CASE WHEN o.error IS NULL
                     THEN CASE WHEN t.status = 'LOST' THEN json_remove(t.errors, '$[#-1]') ELSE t.errors END
                     ELSE json_insert(CASE WHEN t.status = 'LOST' THEN json_remove(t.errors, '$[#-1]') ELSE t.errors END,
                                      '$[#]', json_set(o.error, '$.at', :now)) END,
       attempts = CASE WHEN o.refund THEN t.attempts - 1 ELSE t.attempts END,
       epoch = CASE WHEN o.refund THEN t.epoch + 1 ELSE t.epoch END,
       worker_ids = CASE WHEN o.refund THEN json_remove(t.worker_ids, '$[#-1]') ELSE t.worker_ids END,
       started_at = CASE WHEN o.refund AND t.attempts = 1 THEN NULL ELSE t.started_at END,
       last_attempted_at = CASE WHEN o.refund THEN t.prior_attempted_at ELSE t.last_attempted_at END,
       prior_attempted_at = CASE WHEN o.refund THEN NULL ELSE COALESCE(t.last_attempted_at, :now) END,
       snoozes = CASE WHEN o.refund AND o.delay IS NOT NULL THEN t.snoozes + 1 ELSE t.snoozes END,
       recheck = CASE WHEN t.reruns AND (o.status <> 'READY' OR t.cancel_requested) THEN 1 ELSE t.recheck END,
       begun = false, leased_by = NULL
  FROM o
 WHERE t.id = o.id AND t.epoch = o.epoch
   AND (t.status = 'RUNNING' OR t.status = 'LOST' AND o.status IN ('SUCCESSFUL', 'FAILED'))
RETURNING id, epoch - (typeof(prior_attempted_at) = 'null'), status, CASE WHEN recheck = 1 THEN unique_key END, batch_id,
          workflow_id
