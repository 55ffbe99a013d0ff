-- drop_follow_ups: clear the pointers of these keys to follow-ups that have ended without running.
UPDATE oxpull_unique AS u INDEXED BY sqlite_autoindex_oxpull_unique_1
   SET follow_up_id = NULL
 WHERE u.unique_key IN (SELECT value FROM json_each(:keys))
   AND EXISTS (SELECT 1 FROM oxpull_task AS f WHERE f.id = u.follow_up_id AND f.status = 'DISCARDED')
