-- move_delete: delete these old rows, which the caller has read in this transaction.
DELETE FROM django_ox_oxtask
 WHERE id IN (SELECT value FROM json_each(:ids))
