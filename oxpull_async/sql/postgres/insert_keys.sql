-- insert_keys: take the keys of this JSON list that have no lock row, in order; returns those taken.
INSERT INTO oxpull_unique (unique_key, holder_id, first_at, expires_at)
SELECT n.unique_key, n.holder_id, :now, :now + make_interval(secs => n.ttl)
  FROM json_to_recordset(:keys::text::json) AS n(unique_key text, holder_id uuid, ttl float8)
 ORDER BY n.unique_key
ON CONFLICT (unique_key) DO NOTHING
RETURNING unique_key
