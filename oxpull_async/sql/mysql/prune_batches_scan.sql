-- prune_batches_scan: the next batches by id: whether each completed more than `age` seconds ago with no task of it left,
-- and its callbacks.
SELECT b.id,
       c.status = 'COMPLETE' AND c.completed_at < :now - INTERVAL ROUND(:age * 1000000) MICROSECOND
       AND (:backend_alias IS NULL OR b.backend_alias = :backend_alias)
       AND NOT EXISTS (SELECT 1 FROM oxpull_batch_member AS m JOIN oxpull_task AS t ON t.id = m.task_id
                        WHERE m.batch_id = b.id),
       b.callbacks
  FROM oxpull_batch AS b FORCE INDEX (PRIMARY) JOIN oxpull_batch_counts AS c ON c.batch_id = b.id
 WHERE :after IS NULL OR b.id > :after
 ORDER BY b.id LIMIT :limit
