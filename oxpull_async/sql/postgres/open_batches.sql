-- open_batches: batches that are not complete, oldest first from a place: id, name, alias, status, age in seconds,
-- whether it has expired and was cancelled, total, and how many members are counted.
SELECT b.id::text, b.name, b.backend_alias, c.status, EXTRACT(EPOCH FROM :now - b.created_at)::float8,
       COALESCE(b.expires_at <= :now, false), c.cancelled, c.total, c.succeeded + c.failed + c.unattributed
  FROM oxpull_batch_counts c JOIN oxpull_batch b ON b.id = c.batch_id
 WHERE c.status <> 'COMPLETE' AND c.batch_id > COALESCE(:after::text, '00000000000000000000000000000000')::uuid
 ORDER BY c.batch_id LIMIT (SELECT :limit::int)
