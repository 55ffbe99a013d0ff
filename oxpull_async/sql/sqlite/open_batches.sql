-- open_batches: batches that are not complete, oldest first from a place: id, name, alias, status, age in seconds,
-- whether it has expired and was cancelled, total, and how many members are counted.
SELECT b.id, b.name, b.backend_alias, c.status, (julianday(:now) - julianday(b.created_at)) * 86400.0,
       COALESCE(b.expires_at <= :now, false), c.cancelled, c.total, c.succeeded + c.failed + c.unattributed
  FROM oxpull_batch_counts AS c INDEXED BY oxpull_batch_counts_open JOIN oxpull_batch AS b ON b.id = c.batch_id
 WHERE c.status <> 'COMPLETE' AND c.batch_id > COALESCE(:after, '')
 ORDER BY c.batch_id LIMIT :limit
