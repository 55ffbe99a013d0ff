-- move_free_keys: delete the old lock rows of these keys.
DELETE FROM oxpull_oxpulluniquelock
 WHERE "key" IN (SELECT value FROM json_each(:keys))
