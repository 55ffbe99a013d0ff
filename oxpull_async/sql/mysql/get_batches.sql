-- get_batches: these batches: id, alias, name, status, how many members, how many of them are counted as what, callbacks,
-- and when it was made, sealed and completed.
SELECT b.id, b.backend_alias, b.name, c.status, COALESCE(c.total, b.members), c.succeeded, c.failed, c.unattributed,
       b.callbacks, b.created_at, b.sealed_at, c.completed_at
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_batch AS b FORCE INDEX (PRIMARY) ON b.id = j.id
  STRAIGHT_JOIN oxpull_batch_counts AS c FORCE INDEX (PRIMARY) ON c.batch_id = b.id
