-- open_batches: batches that are not complete, oldest first from a place: id, name, alias, status, age in seconds,
-- whether it has expired and was cancelled, total, and how many members are counted.
SELECT b.id, b.name, b.backend_alias, c.status, TIMESTAMPDIFF(MICROSECOND, b.created_at, :now) / 1e6,
       COALESCE(b.expires_at <= :now, false), c.cancelled, c.total, c.succeeded + c.failed + c.unattributed
  FROM oxpull_batch_counts AS c FORCE INDEX (oxpull_batch_counts_open) JOIN oxpull_batch AS b ON b.id = c.batch_id
 WHERE c.status IN ('OPEN', 'SEALED') AND (:after IS NULL OR c.batch_id > :after)
 ORDER BY c.batch_id LIMIT :limit
