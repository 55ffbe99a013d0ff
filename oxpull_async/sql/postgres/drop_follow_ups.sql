-- drop_follow_ups: clear the pointers of these keys to follow-ups that have ended without running.
UPDATE oxpull_unique AS u SET follow_up_id = NULL
  FROM oxpull_task f
 WHERE u.unique_key = ANY(ARRAY(SELECT jsonb_array_elements_text(:keys::text::jsonb)))
   AND f.id = u.follow_up_id AND f.status = 'DISCARDED'
