-- write_counts: write the counts of batches, which the caller has locked.
UPDATE JSON_TABLE(:counts, '$[*]' COLUMNS (
            id CHAR(32) CHARACTER SET utf8mb4 PATH '$.id' ERROR ON ERROR,
            status VARCHAR(8) CHARACTER SET utf8mb4 PATH '$.status' ERROR ON ERROR,
            total INT PATH '$.total' ERROR ON ERROR,
            succeeded INT PATH '$.succeeded' ERROR ON ERROR,
            failed INT PATH '$.failed' ERROR ON ERROR,
            unattributed INT PATH '$.unattributed' ERROR ON ERROR,
            cancelled INT PATH '$.cancelled' ERROR ON ERROR)) AS n
  STRAIGHT_JOIN oxpull_batch_counts AS c FORCE INDEX (PRIMARY) ON c.batch_id = n.id
   SET c.status = n.status, c.total = n.total, c.succeeded = n.succeeded, c.failed = n.failed,
       c.unattributed = n.unattributed, c.cancelled = n.cancelled,
       c.completed_at = IF(n.status = 'COMPLETE', COALESCE(c.completed_at, :now), NULL)
