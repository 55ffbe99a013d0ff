-- insert_batch_counts: store the counts of a new batch.
INSERT INTO oxpull_batch_counts (batch_id, status, succeeded, failed, unattributed, cancelled)
VALUES (:id::text::uuid, 'OPEN', 0, 0, 0, false)
