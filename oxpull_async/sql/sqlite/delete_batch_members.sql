-- delete_batch_members: delete the member rows of these batches.
DELETE FROM oxpull_batch_member WHERE batch_id IN (SELECT value FROM json_each(:ids))
