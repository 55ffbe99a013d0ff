-- find_follow_ups: the follow-ups that wait for holders that have ended or are gone. The caller has locked the keys.
SELECT u.follow_up_id::text
  FROM oxpull_unique u
  JOIN oxpull_task f ON f.id = u.follow_up_id AND f.waiting_for = 'follow_up'
  LEFT JOIN oxpull_task h ON h.id = u.holder_id
 WHERE u.unique_key = ANY(ARRAY(SELECT jsonb_array_elements_text(:keys::text::jsonb)))
   AND (h.id IS NULL OR h.status NOT IN ('READY', 'WAITING', 'RUNNING'))
