-- promote_keys: make these follow-ups, which `release_follow_ups` has made ready, the holders of their keys.
UPDATE oxpull_unique AS u SET holder_id = u.follow_up_id, follow_up_id = NULL, first_at = :now
 WHERE u.unique_key = ANY(ARRAY(SELECT jsonb_array_elements_text(:keys::text::jsonb)))
   AND u.follow_up_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
