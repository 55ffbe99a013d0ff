-- find_follow_ups: the follow-ups of these keys whose holder has ended or is gone. The caller has locked the keys.
SELECT u.follow_up_id
  FROM JSON_TABLE(:keys, '$[*]' COLUMNS (unique_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_unique AS u FORCE INDEX (PRIMARY) ON u.unique_key = j.unique_key
  LEFT JOIN oxpull_task AS h FORCE INDEX (PRIMARY) ON h.id = u.holder_id
 WHERE u.follow_up_id IS NOT NULL
   AND (h.id IS NULL OR h.status NOT IN ('READY', 'WAITING', 'RUNNING'))
