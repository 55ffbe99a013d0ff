-- reap_task: take one row from its silent worker, if nothing about it has changed since it was read.
UPDATE oxpull_task
   SET status = :status, due = CASE WHEN :status = 'READY' THEN 1 END,
       epoch = CASE WHEN :status = 'READY' THEN epoch + 1 ELSE epoch END,
       finished_at = CASE WHEN :status = 'READY' THEN NULL ELSE :now END,
       attempts = CASE WHEN :refund THEN attempts - 1 ELSE attempts END,
       worker_ids = CASE WHEN :refund THEN json_remove(worker_ids, '$[#-1]') ELSE worker_ids END,
       refunds = CASE WHEN :refund THEN refunds + 1 ELSE refunds END,
       started_at = CASE WHEN :refund AND attempts = 1 THEN NULL ELSE started_at END,
       last_attempted_at = CASE WHEN :refund THEN prior_attempted_at ELSE last_attempted_at END,
       errors = CASE WHEN :error IS NULL THEN errors
                     ELSE json_insert(errors, '$[#]', json_set(:error, '$.at', :now)) END,
       recheck = CASE WHEN reruns AND :status <> 'READY' THEN 1 ELSE recheck END,
       begun = false, leased_by = NULL
 WHERE id = :id AND epoch = :epoch AND status = 'RUNNING' AND begun = :begun AND cancel_requested = :cancel_requested
