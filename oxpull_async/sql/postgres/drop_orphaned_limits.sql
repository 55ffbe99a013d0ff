-- drop_orphaned_limits: take back the rate limits of workers that are dead or gone.
DELETE FROM oxpull_rate_limit l
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_worker w WHERE w.id = l.worker_id AND NOT w.dead)
