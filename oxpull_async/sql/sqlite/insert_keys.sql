-- insert_keys: take the keys of this JSON list that have no lock row; returns those taken.
INSERT INTO oxpull_unique (unique_key, holder_id, first_at, expires_at)
SELECT json_extract(n.value, '$.unique_key'), json_extract(n.value, '$.holder_id'), :now,
       strftime('%Y-%m-%d %H:%M:%f', :now, json_extract(n.value, '$.ttl') || ' seconds') || '000'
  FROM json_each(:keys) AS n
 WHERE true
ON CONFLICT (unique_key) DO NOTHING
RETURNING unique_key
