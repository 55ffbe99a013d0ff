-- settle: write outcomes, each fenced by its epoch; returns id, epoch, status, key to recheck and batch of what counted.
-- The rows are locked in id order first. `status || ''` hides the column from the planner, whose statistics
-- may have been taken when nothing ran and would make it start from "the one running row".
WITH o AS MATERIALIZED (
    SELECT * FROM json_to_recordset(:outcomes::text::json)
        AS o(id uuid, epoch bigint, status text, value text, error text, delay float8, refund boolean)
), locked AS MATERIALIZED (
    SELECT t.id FROM oxpull_task t WHERE t.id = ANY(ARRAY(SELECT o.id FROM o)) ORDER BY t.id FOR UPDATE
)
UPDATE oxpull_task AS t
   SET status = CASE WHEN t.cancel_requested AND o.status <> 'SUCCESSFUL' THEN 'DISCARDED' ELSE o.status END,
       due = CASE WHEN o.status <> 'READY' OR t.cancel_requested THEN NULL WHEN o.delay > 0 THEN 0 ELSE 1 END,
       available_at = CASE WHEN o.status = 'READY' AND o.delay IS NOT NULL
                           THEN :now + make_interval(secs => o.delay) ELSE t.available_at END,
       finished_at = CASE WHEN o.status = 'READY' AND NOT t.cancel_requested THEN NULL ELSE :now END,
       return_value = CASE WHEN o.status = 'SUCCESSFUL' THEN o.value::jsonb END,
       errors = CASE WHEN t.status = 'LOST' THEN t.errors - (-1) ELSE t.errors END
             || CASE WHEN o.error IS NULL THEN '[]'
                     ELSE jsonb_build_array(o.error::jsonb || jsonb_build_object('at', to_jsonb(:now))) END,
       attempts = CASE WHEN o.refund THEN t.attempts - 1 ELSE t.attempts END,
       epoch = CASE WHEN o.refund THEN t.epoch + 1 ELSE t.epoch END,
       worker_ids = CASE WHEN o.refund THEN t.worker_ids - (-1) ELSE t.worker_ids END,
       started_at = CASE WHEN o.refund AND t.attempts = 1 THEN NULL ELSE t.started_at END,
       last_attempted_at = CASE WHEN o.refund THEN t.prior_attempted_at ELSE t.last_attempted_at END,
       snoozes = CASE WHEN o.refund AND o.delay IS NOT NULL THEN t.snoozes + 1 ELSE t.snoozes END,
       recheck = CASE WHEN t.reruns AND (o.status <> 'READY' OR t.cancel_requested) THEN 1 ELSE t.recheck END,
       begun = false, leased_by = NULL
  FROM o, locked
 WHERE t.id = locked.id AND t.id = o.id AND t.epoch = o.epoch
   AND (t.status || '' = 'RUNNING' OR t.status || '' = 'LOST' AND o.status IN ('SUCCESSFUL', 'FAILED'))
RETURNING t.id::text, o.epoch, t.status, CASE WHEN t.recheck = 1 THEN t.unique_key END, t.batch_id::text,
          t.workflow_id::text
