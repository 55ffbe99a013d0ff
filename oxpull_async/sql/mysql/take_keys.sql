-- take_keys: make new tasks the holders of keys whose holders' time is over; guarded by the old holder's id.
UPDATE JSON_TABLE(:keys, '$[*]' COLUMNS (
            unique_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$.unique_key' ERROR ON ERROR,
            holder_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.holder_id' ERROR ON ERROR,
            old_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.old_id' ERROR ON ERROR,
            ttl DOUBLE PATH '$.ttl' ERROR ON ERROR)) AS j
  STRAIGHT_JOIN oxpull_unique AS u FORCE INDEX (PRIMARY) ON u.unique_key = j.unique_key
   SET u.holder_id = j.holder_id, u.follow_up_id = NULL, u.first_at = :now,
       u.expires_at = :now + INTERVAL ROUND(j.ttl * 1000000) MICROSECOND
 WHERE u.holder_id = j.old_id
