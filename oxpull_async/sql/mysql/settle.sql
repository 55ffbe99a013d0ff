-- settle: write outcomes, each fenced by its epoch, on rows that `lock_outcomes` has locked.
-- The order of the assignments matters: each reads columns that have not been assigned yet, so status is the last.
UPDATE JSON_TABLE(:outcomes, '$[*]' COLUMNS (
            id CHAR(32) CHARACTER SET utf8mb4 PATH '$.id',
            epoch BIGINT PATH '$.epoch',
            status VARCHAR(12) CHARACTER SET utf8mb4 PATH '$.status',
            value LONGTEXT CHARACTER SET utf8mb4 PATH '$.value' ERROR ON ERROR,
            error LONGTEXT CHARACTER SET utf8mb4 PATH '$.error' ERROR ON ERROR,
            delay DOUBLE PATH '$.delay' ERROR ON ERROR,
            refund INT PATH '$.refund')) AS o
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = o.id
   SET t.due = CASE WHEN o.status <> 'READY' OR t.cancel_requested THEN NULL WHEN o.delay > 0 THEN 0 ELSE 1 END,
       t.available_at = IF(o.status = 'READY' AND o.delay IS NOT NULL,
                           :now + INTERVAL ROUND(o.delay * 1000000) MICROSECOND, t.available_at),
       t.finished_at = IF(o.status = 'READY' AND NOT t.cancel_requested, NULL, :now),
       t.return_value = IF(o.status = 'SUCCESSFUL', o.value, NULL),
       t.errors = JSON_MERGE_PRESERVE(
           IF(t.status = 'LOST', JSON_REMOVE(t.errors, CONCAT('$[', GREATEST(JSON_LENGTH(t.errors), 1) - 1, ']')),
              t.errors),
           IF(o.error IS NULL, '[]', JSON_SET(o.error, '$.at', DATE_FORMAT(:now, '%Y-%m-%dT%H:%i:%s.%f+00:00')))),
       t.worker_ids = IF(o.refund,
           JSON_REMOVE(t.worker_ids, CONCAT('$[', GREATEST(JSON_LENGTH(t.worker_ids), 1) - 1, ']')), t.worker_ids),
       t.epoch = IF(o.refund, t.epoch + 1, t.epoch),
       t.started_at = IF(o.refund AND t.attempts = 1, NULL, t.started_at),
       t.last_attempted_at = IF(o.refund, t.prior_attempted_at, t.last_attempted_at),
       t.attempts = IF(o.refund, t.attempts - 1, t.attempts),
       t.snoozes = IF(o.refund AND o.delay IS NOT NULL, t.snoozes + 1, t.snoozes),
       t.recheck = IF(t.reruns AND (o.status <> 'READY' OR t.cancel_requested), 1, t.recheck),
       t.begun = false, t.leased_by = NULL,
       t.status = IF(t.cancel_requested AND o.status <> 'SUCCESSFUL', 'DISCARDED', o.status)
 WHERE t.epoch = o.epoch
   AND (t.status = 'RUNNING' OR t.status = 'LOST' AND o.status IN ('SUCCESSFUL', 'FAILED'))
