-- inserted_keys: those keys of this JSON list whose lock row names the holder that the list gives them.
SELECT u.unique_key
  FROM JSON_TABLE(:keys, '$[*]' COLUMNS (
            unique_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$.unique_key' ERROR ON ERROR,
            holder_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.holder_id' ERROR ON ERROR)) AS j
  STRAIGHT_JOIN oxpull_unique AS u FORCE INDEX (PRIMARY) ON u.unique_key = j.unique_key
 WHERE u.holder_id = j.holder_id
