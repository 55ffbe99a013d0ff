-- lock_outcomes: lock the rows whose outcomes are to be written, in order: id, epoch, status, whether a cancel is
-- requested, the unique key where a follow-up may hang on it, batch and workflow.
-- Differs because there is no RETURNING: the rows are locked and judged first, then written.
SELECT t.id, t.epoch, t.status, t.cancel_requested, IF(t.reruns, t.unique_key, NULL), t.batch_id, t.workflow_id
  FROM oxpull_task AS t FORCE INDEX (PRIMARY)
 WHERE t.id IN :ids AND t.status IN ('RUNNING', 'LOST')
   FOR UPDATE
