-- delete_stale_keys: delete these lock rows where they are still stale.
DELETE FROM oxpull_unique INDEXED BY sqlite_autoindex_oxpull_unique_1
 WHERE unique_key IN (SELECT value FROM json_each(:keys))
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS f INDEXED BY sqlite_autoindex_oxpull_task_1
                    WHERE f.id = follow_up_id AND f.waiting_for = 'follow_up')
   AND CASE WHEN expires_at IS NOT NULL THEN expires_at <= :now
            ELSE NOT EXISTS (SELECT 1 FROM oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
                              WHERE t.id = holder_id AND t.status IN ('READY', 'WAITING', 'RUNNING')) END
