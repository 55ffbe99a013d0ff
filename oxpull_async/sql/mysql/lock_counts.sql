-- lock_counts: lock the counts of these batches in order; returns batch, status, total, counts, whether cancelled.
SELECT c.batch_id, c.status, c.total, c.succeeded, c.failed, c.unattributed, c.cancelled
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_batch_counts AS c FORCE INDEX (PRIMARY) ON c.batch_id = j.id
   FOR UPDATE
