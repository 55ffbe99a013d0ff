-- reap_task: take one row from its silent worker, if nothing about it has changed since it was read.
-- The order of the assignments matters: each reads columns that have not been assigned yet.
UPDATE oxpull_task
   SET status = :status, due = IF(:status = 'READY', 1, NULL),
       epoch = IF(:status = 'READY', epoch + 1, epoch),
       finished_at = IF(:status = 'READY', NULL, :now),
       worker_ids = IF(:refund,
           JSON_REMOVE(worker_ids, CONCAT('$[', GREATEST(JSON_LENGTH(worker_ids), 1) - 1, ']')), worker_ids),
       started_at = IF(:refund AND attempts = 1, NULL, started_at),
       last_attempted_at = IF(:refund, prior_attempted_at, last_attempted_at),
       attempts = IF(:refund, attempts - 1, attempts),
       refunds = IF(:refund, refunds + 1, refunds),
       errors = IF(:error IS NULL, errors, JSON_MERGE_PRESERVE(errors,
           JSON_SET(:error, '$.at', DATE_FORMAT(:now, '%Y-%m-%dT%H:%i:%s.%f+00:00')))),
       recheck = IF(reruns AND :status <> 'READY', 1, recheck),
       begun = false, leased_by = NULL
 WHERE id = :id AND epoch = :epoch AND status = 'RUNNING'
   AND begun = :begun AND cancel_requested = :cancel_requested
