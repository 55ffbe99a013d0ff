-- promote_keys: make those of these follow-ups that `release_follow_ups` has made ready the holders of their keys.
-- They hold them without a ttl: none is declared with a follow-up.
UPDATE oxpull_unique AS u SET holder_id = u.follow_up_id, follow_up_id = NULL, first_at = :now, expires_at = NULL
  FROM oxpull_task f
 WHERE u.unique_key = ANY(ARRAY(SELECT jsonb_array_elements_text(:keys::text::jsonb)))
   AND u.follow_up_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
   AND f.id = u.follow_up_id AND f.status || '' = 'READY'
