-- drop_follow_ups: clear the pointers of these keys to follow-ups that have ended without running.
UPDATE JSON_TABLE(:keys, '$[*]' COLUMNS (unique_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_unique AS u FORCE INDEX (PRIMARY) ON u.unique_key = j.unique_key
  STRAIGHT_JOIN oxpull_task AS f FORCE INDEX (PRIMARY) ON f.id = u.follow_up_id
   SET u.follow_up_id = NULL
 WHERE f.status = 'DISCARDED'
