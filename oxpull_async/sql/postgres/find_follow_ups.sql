-- find_follow_ups: the follow-ups of these keys whose holder has ended or is gone. The caller has locked the keys.
SELECT u.follow_up_id::text
  FROM oxpull_unique u
  LEFT JOIN oxpull_task h ON h.id = u.holder_id
 WHERE u.unique_key = ANY(ARRAY(SELECT jsonb_array_elements_text(:keys::text::jsonb)))
   AND u.follow_up_id IS NOT NULL
   AND (h.id IS NULL OR h.status NOT IN ('READY', 'WAITING', 'RUNNING'))
