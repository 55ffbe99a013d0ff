-- prune_batches_scan: the next batches by id: whether each completed more than `age` seconds ago with no task of it left,
-- and its callbacks.
SELECT b.id,
       c.status = 'COMPLETE' AND c.completed_at < strftime('%Y-%m-%d %H:%M:%f', :now, -:age || ' seconds') || '000'
       AND (:backend_alias IS NULL OR b.backend_alias = :backend_alias)
       AND NOT EXISTS (SELECT 1 FROM oxpull_batch_member AS m
                        CROSS JOIN oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1 ON t.id = m.task_id
                        WHERE m.batch_id = b.id),
       b.callbacks
  FROM oxpull_batch AS b JOIN oxpull_batch_counts AS c ON c.batch_id = b.id
 WHERE b.id > COALESCE(:after, '')
 ORDER BY b.id LIMIT :limit
