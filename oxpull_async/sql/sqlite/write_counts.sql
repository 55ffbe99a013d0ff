-- write_counts: write the counts of batches, which the caller has locked.
UPDATE oxpull_batch_counts AS c INDEXED BY sqlite_autoindex_oxpull_batch_counts_1
   SET status = n.status, total = n.total, succeeded = n.succeeded, failed = n.failed, unattributed = n.unattributed,
       cancelled = n.cancelled,
       completed_at = CASE WHEN n.status = 'COMPLETE' THEN COALESCE(c.completed_at, :now) END
  FROM (WITH given AS MATERIALIZED (
            SELECT json_extract(j.value, '$.id') AS id, json_extract(j.value, '$.status') AS status,
                   json_extract(j.value, '$.total') AS total, json_extract(j.value, '$.succeeded') AS succeeded,
                   json_extract(j.value, '$.failed') AS failed, json_extract(j.value, '$.cancelled') AS cancelled,
                   json_extract(j.value, '$.unattributed') AS unattributed
              FROM json_each(:counts) AS j)
        SELECT * FROM given) AS n
 WHERE c.batch_id = n.id
