-- delete_batches: delete these batches.
DELETE FROM oxpull_batch WHERE id IN (SELECT value FROM json_each(:ids))
