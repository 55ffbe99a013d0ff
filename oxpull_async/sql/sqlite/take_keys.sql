-- take_keys: make new tasks the holders of keys whose holders' time is over; guarded by the old holder's id.
UPDATE oxpull_unique AS u INDEXED BY sqlite_autoindex_oxpull_unique_1
   SET holder_id = n.holder_id, follow_up_id = NULL, first_at = :now,
       expires_at = strftime('%Y-%m-%d %H:%M:%f', :now, n.ttl || ' seconds') || '000'
  FROM (WITH given AS MATERIALIZED (
            SELECT json_extract(j.value, '$.unique_key') AS unique_key, json_extract(j.value, '$.holder_id') AS holder_id,
                   json_extract(j.value, '$.old_id') AS old_id, json_extract(j.value, '$.ttl') AS ttl
              FROM json_each(:keys) AS j)
        SELECT * FROM given) AS n
 WHERE u.unique_key = n.unique_key AND u.holder_id = n.old_id
