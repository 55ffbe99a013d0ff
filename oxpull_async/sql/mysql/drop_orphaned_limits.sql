-- drop_orphaned_limits: take back the rate limits of workers that are dead or gone.
DELETE FROM oxpull_rate_limit
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_worker AS w WHERE w.id = oxpull_rate_limit.worker_id AND NOT w.dead)
