-- write_counts: write the counts of batches, which the caller has locked.
WITH n AS MATERIALIZED (
    SELECT * FROM json_to_recordset(:counts::text::json) AS n(
        id uuid, status text, total int, succeeded int, failed int, unattributed int, cancelled boolean)
)
UPDATE oxpull_batch_counts AS c
   SET status = n.status, total = n.total, succeeded = n.succeeded, failed = n.failed, unattributed = n.unattributed,
       cancelled = n.cancelled,
       completed_at = CASE WHEN n.status = 'COMPLETE' THEN COALESCE(c.completed_at, :now) END
  FROM n
 WHERE c.batch_id = ANY(ARRAY(SELECT n.id FROM n)) AND c.batch_id = n.id
