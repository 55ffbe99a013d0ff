-- report_progress: store how far an attempt is, while its lease is good.
UPDATE oxpull_task SET progress = :progress::text::jsonb
 WHERE id = :id::text::uuid AND epoch = :epoch::bigint AND status = 'RUNNING'
