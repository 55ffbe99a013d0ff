-- report_progress: store how far an attempt is, while its lease is good.
UPDATE oxpull_task SET progress = :progress WHERE id = :id AND epoch = :epoch AND status = 'RUNNING'
