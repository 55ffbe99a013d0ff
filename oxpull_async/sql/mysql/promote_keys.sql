-- promote_keys: make those of these follow-ups that `release_follow_ups` has made ready the holders of their keys.
-- They hold them without a ttl: none is declared with a follow-up.
-- The order of the assignments matters: the first reads what the second clears.
UPDATE JSON_TABLE(:keys, '$[*]' COLUMNS (unique_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_unique AS u FORCE INDEX (PRIMARY) ON u.unique_key = j.unique_key
  STRAIGHT_JOIN JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS i
             ON i.id = u.follow_up_id
  STRAIGHT_JOIN oxpull_task AS f FORCE INDEX (PRIMARY) ON f.id = i.id
   SET u.holder_id = u.follow_up_id, u.follow_up_id = NULL, u.first_at = :now, u.expires_at = NULL
 WHERE f.status = 'READY'
