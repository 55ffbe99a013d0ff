-- take_keys: make new tasks the holders of keys whose holders' time is over; guarded by the old holder's id.
WITH n AS MATERIALIZED (
    SELECT * FROM json_to_recordset(:keys::text::json) AS n(unique_key text, holder_id uuid, old_id uuid, ttl float8)
)
UPDATE oxpull_unique AS u
   SET holder_id = n.holder_id, follow_up_id = NULL, first_at = :now, expires_at = :now + make_interval(secs => n.ttl)
  FROM n
 WHERE u.unique_key = n.unique_key AND u.unique_key = ANY(ARRAY(SELECT n.unique_key FROM n)) AND u.holder_id = n.old_id
