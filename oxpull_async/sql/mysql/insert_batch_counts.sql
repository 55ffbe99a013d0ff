-- insert_batch_counts: store the counts of a new batch.
INSERT INTO oxpull_batch_counts (batch_id, status, succeeded, failed, unattributed, cancelled)
VALUES (:id, 'OPEN', 0, 0, 0, false)
