-- settle_successes: write successes of one epoch; the same as `settle` for them, and the same answer.
-- No join: the rows are locked in id order, then found by their ids. `results` holds what is not null, by id.
-- `status || ''` hides the column from the planner, as in `settle`.
WITH locked AS MATERIALIZED (
    SELECT t.id FROM oxpull_task t
     WHERE t.id = ANY(ARRAY(SELECT unnest(:ids::text::uuid[]))) ORDER BY t.id FOR UPDATE
)
UPDATE oxpull_task AS t
   SET status = 'SUCCESSFUL', due = NULL, finished_at = :now,
       return_value = COALESCE((SELECT :results::text::jsonb) -> t.id::text, 'null'),
       errors = CASE WHEN t.status = 'LOST' THEN t.errors - (-1) ELSE t.errors END,
       recheck = CASE WHEN t.reruns THEN 1 ELSE t.recheck END,
       begun = false, leased_by = NULL
 WHERE t.id = ANY(ARRAY(SELECT locked.id FROM locked)) AND t.epoch = :epoch::bigint
   AND t.status || '' IN ('RUNNING', 'LOST')
RETURNING t.id::text, t.epoch, t.status, CASE WHEN t.recheck = 1 THEN t.unique_key END, t.batch_id::text,
          t.workflow_id::text
