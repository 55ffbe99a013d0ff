-- remove_dead_workers: forget dead workers that hold nothing and fell silent over a day ago.
DELETE FROM oxpull_worker w
 WHERE w.dead AND w.lease_expires_at < :now - interval '1 day'
   AND NOT EXISTS (SELECT 1 FROM oxpull_task t WHERE t.leased_by = w.id)
