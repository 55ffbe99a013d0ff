-- remove_dead_workers: forget dead workers that hold nothing and fell silent over a day ago.
DELETE FROM oxpull_worker
 WHERE dead AND lease_expires_at < :now - INTERVAL 1 DAY
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS t FORCE INDEX (oxpull_task_leased) WHERE t.leased_by = oxpull_worker.id)
