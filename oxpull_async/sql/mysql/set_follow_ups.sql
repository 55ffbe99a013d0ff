-- set_follow_ups: name the follow-ups of keys, each guarded by its holder's id. One that is named waits no more.
UPDATE JSON_TABLE(:keys, '$[*]' COLUMNS (
            unique_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$.unique_key' ERROR ON ERROR,
            holder_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.holder_id' ERROR ON ERROR,
            follow_up_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.follow_up_id' ERROR ON ERROR)) AS j
  STRAIGHT_JOIN oxpull_unique AS u FORCE INDEX (PRIMARY) ON u.unique_key = j.unique_key
   SET u.follow_up_id = j.follow_up_id
 WHERE u.holder_id = j.holder_id
