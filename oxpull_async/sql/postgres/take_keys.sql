-- take_keys: make new tasks the holders of keys whose holders' time is over; guarded by the old holder's id.
UPDATE oxpull_unique AS u
   SET holder_id = n.holder_id, follow_up_id = NULL, first_at = :now, expires_at = :now + make_interval(secs => n.ttl)
  FROM json_to_recordset(:keys::text::json) AS n(unique_key text, holder_id uuid, old_id uuid, ttl float8)
 WHERE u.unique_key = n.unique_key AND u.holder_id = n.old_id
