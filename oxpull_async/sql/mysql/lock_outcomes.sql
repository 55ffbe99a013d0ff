-- lock_outcomes: lock the rows whose outcomes count, in the order given; returns id, epoch and the status to come, and
-- the unique key where a follow-up is to be looked at, and the batch.
SELECT t.id, t.epoch, IF(t.cancel_requested AND o.status <> 'SUCCESSFUL', 'DISCARDED', o.status),
       IF(t.reruns AND (o.status <> 'READY' OR t.cancel_requested), t.unique_key, NULL), t.batch_id, t.workflow_id
  FROM JSON_TABLE(:outcomes, '$[*]' COLUMNS (
            id CHAR(32) CHARACTER SET utf8mb4 PATH '$.id',
            epoch BIGINT PATH '$.epoch',
            status VARCHAR(12) CHARACTER SET utf8mb4 PATH '$.status')) AS o
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = o.id
 WHERE t.epoch = o.epoch
   AND (t.status = 'RUNNING' OR t.status = 'LOST' AND o.status IN ('SUCCESSFUL', 'FAILED'))
   FOR UPDATE
