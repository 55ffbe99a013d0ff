-- reap_task: take one row from its silent worker, if nothing about it has changed since it was read.
UPDATE oxpull_task
   SET status = :status::text, due = CASE WHEN :status::text = 'READY' THEN 1 END,
       epoch = CASE WHEN :status::text = 'READY' THEN epoch + 1 ELSE epoch END,
       finished_at = CASE WHEN :status::text = 'READY' THEN NULL ELSE :now END,
       attempts = CASE WHEN :refund::boolean THEN attempts - 1 ELSE attempts END,
       worker_ids = CASE WHEN :refund::boolean THEN worker_ids - (-1) ELSE worker_ids END,
       refunds = CASE WHEN :refund::boolean THEN refunds + 1 ELSE refunds END,
       started_at = CASE WHEN :refund::boolean AND attempts = 1 THEN NULL ELSE started_at END,
       last_attempted_at = CASE WHEN :refund::boolean THEN prior_attempted_at ELSE last_attempted_at END,
       errors = CASE WHEN :error::text IS NULL THEN errors
                     ELSE errors || jsonb_build_array(:error::text::jsonb || jsonb_build_object('at', to_jsonb(:now))) END,
       recheck = CASE WHEN reruns AND :status::text <> 'READY' THEN 1 ELSE recheck END,
       begun = false, leased_by = NULL
 WHERE id = :id::text::uuid AND epoch = :epoch::bigint AND status = 'RUNNING'
   AND begun = :begun::boolean AND cancel_requested = :cancel_requested::boolean
