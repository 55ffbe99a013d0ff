-- prune_batches_scan: the next batches by id: whether each completed more than `age` seconds ago, whether a task of it is
-- left, and its callbacks. Rows of other tables are looked up one by one, so that no plan joins whole tables.
SELECT b.id,
       (SELECT c.status = 'COMPLETE' AND c.completed_at < strftime('%Y-%m-%d %H:%M:%f', :now, -:age || ' seconds') || '000'
          FROM oxpull_batch_counts AS c WHERE c.batch_id = b.id)
       AND (:backend_alias IS NULL OR b.backend_alias = :backend_alias),
       (SELECT m.task_id FROM oxpull_batch_member AS m INDEXED BY oxpull_batch_member_batch
         WHERE m.batch_id = b.id
           AND (SELECT t.id FROM oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1 WHERE t.id = m.task_id) IS NOT NULL
         LIMIT 1) IS NOT NULL,
       b.callbacks
  FROM oxpull_batch AS b
 WHERE b.id > COALESCE(:after, '')
 ORDER BY b.id LIMIT :limit
