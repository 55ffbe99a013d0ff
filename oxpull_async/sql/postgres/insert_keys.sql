-- insert_keys: lock the lock rows of these keys in order, and insert those that are missing; returns those inserted.
-- The update that never matches locks a row that exists, and waits for one that another transaction has inserted.
INSERT INTO oxpull_unique AS u (unique_key, holder_id, first_at, expires_at)
SELECT n.unique_key, n.holder_id, :now, :now + make_interval(secs => n.ttl)
  FROM json_to_recordset(:keys::text::json) AS n(unique_key text, holder_id uuid, ttl float8)
 ORDER BY n.unique_key
ON CONFLICT (unique_key) DO UPDATE SET unique_key = u.unique_key WHERE false
RETURNING unique_key
