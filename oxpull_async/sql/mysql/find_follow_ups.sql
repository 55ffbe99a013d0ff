-- find_follow_ups: the follow-ups that wait for holders that have ended or are gone. The caller has locked the keys.
SELECT u.follow_up_id
  FROM JSON_TABLE(:keys, '$[*]' COLUMNS (unique_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_unique AS u FORCE INDEX (PRIMARY) ON u.unique_key = j.unique_key
  STRAIGHT_JOIN oxpull_task AS f FORCE INDEX (PRIMARY) ON f.id = u.follow_up_id
  LEFT JOIN oxpull_task AS h FORCE INDEX (PRIMARY) ON h.id = u.holder_id
 WHERE f.waiting_for = 'follow_up'
   AND (h.id IS NULL OR h.status NOT IN ('READY', 'WAITING', 'RUNNING'))
