-- prune_batches_scan: the next batches by id: whether each completed more than `age` seconds ago, whether a task of it is
-- left, and its callbacks. Rows of other tables are looked up one by one, so that no plan joins whole tables.
SELECT b.id::text,
       (SELECT c.status = 'COMPLETE' AND c.completed_at < :now - make_interval(secs => :age::float8)
          FROM oxpull_batch_counts c WHERE c.batch_id = b.id)
       AND (:backend_alias::text IS NULL OR b.backend_alias = :backend_alias::text),
       (SELECT m.task_id FROM oxpull_batch_member m
         WHERE m.batch_id = b.id AND (SELECT t.id FROM oxpull_task t WHERE t.id = m.task_id) IS NOT NULL
         LIMIT 1) IS NOT NULL,
       b.callbacks::text
  FROM oxpull_batch b
 WHERE b.id > COALESCE(:after::text, '00000000000000000000000000000000')::uuid
 ORDER BY b.id LIMIT (SELECT :limit::int)
