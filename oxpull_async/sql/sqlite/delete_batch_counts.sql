-- delete_batch_counts: delete the counts of these batches.
DELETE FROM oxpull_batch_counts WHERE batch_id IN (SELECT value FROM json_each(:ids))
