-- promote_keys: make those of these follow-ups that `release_follow_ups` has made ready the holders of their keys.
-- They hold them without a ttl: none is declared with a follow-up.
UPDATE oxpull_unique INDEXED BY sqlite_autoindex_oxpull_unique_1
   SET holder_id = follow_up_id, follow_up_id = NULL, first_at = :now, expires_at = NULL
 WHERE unique_key IN (SELECT value FROM json_each(:keys))
   AND follow_up_id IN (SELECT t.id FROM oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
                         WHERE t.id IN (SELECT value FROM json_each(:ids)) AND t.status = 'READY')
