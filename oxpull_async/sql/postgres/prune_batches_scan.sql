-- prune_batches_scan: the next batches by id: whether each completed more than `age` seconds ago with no task of it left,
-- and its callbacks.
SELECT b.id::text,
       c.status = 'COMPLETE' AND c.completed_at < :now - make_interval(secs => :age::float8)
       AND (:backend_alias::text IS NULL OR b.backend_alias = :backend_alias::text)
       AND NOT EXISTS (SELECT 1 FROM oxpull_batch_member m JOIN oxpull_task t ON t.id = m.task_id
                        WHERE m.batch_id = b.id),
       b.callbacks::text
  FROM oxpull_batch b JOIN oxpull_batch_counts c ON c.batch_id = b.id
 WHERE b.id > COALESCE(:after::text, '00000000000000000000000000000000')::uuid
 ORDER BY b.id LIMIT (SELECT :limit::int)
