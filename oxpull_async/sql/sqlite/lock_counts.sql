-- lock_counts: the counts of these batches: batch, status, total, the counts, whether it was cancelled. Locks nothing: there
-- is one writer.
SELECT c.batch_id, c.status, c.total, c.succeeded, c.failed, c.unattributed, c.cancelled
  FROM oxpull_batch_counts AS c
 WHERE c.batch_id IN (SELECT value FROM json_each(:ids))
