-- promote_keys: make these follow-ups, which `release_follow_ups` has made ready, the holders of their keys.
UPDATE oxpull_unique INDEXED BY sqlite_autoindex_oxpull_unique_1
   SET holder_id = follow_up_id, follow_up_id = NULL, first_at = :now
 WHERE unique_key IN (SELECT value FROM json_each(:keys)) AND follow_up_id IN (SELECT value FROM json_each(:ids))
