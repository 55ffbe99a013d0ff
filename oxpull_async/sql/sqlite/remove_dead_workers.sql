-- remove_dead_workers: forget dead workers that hold nothing and fell silent over a day ago.
DELETE FROM oxpull_worker
 WHERE dead AND lease_expires_at < strftime('%Y-%m-%d %H:%M:%f', :now, '-1 day') || '000'
   AND NOT EXISTS (SELECT 1 FROM oxpull_task t WHERE t.leased_by = oxpull_worker.id)
