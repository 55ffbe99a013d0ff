-- get_batches: these batches: id, alias, name, status, how many members, how many of them are counted as what, callbacks,
-- and when it was made, sealed and completed.
SELECT b.id, b.backend_alias, b.name, c.status, COALESCE(c.total, b.members), c.succeeded, c.failed, c.unattributed,
       b.callbacks, b.created_at, b.sealed_at, c.completed_at
  FROM oxpull_batch AS b JOIN oxpull_batch_counts AS c ON c.batch_id = b.id
 WHERE b.id IN (SELECT value FROM json_each(:ids))
