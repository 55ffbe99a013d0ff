-- move_free_keys: delete the old lock rows of these keys.
-- HEX takes the collation of whatever it is compared with: that of the old tables is not ours to know.
DELETE l
  FROM JSON_TABLE(:keys, '$[*]' COLUMNS (unique_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_oxpulluniquelock AS l FORCE INDEX (PRIMARY) ON l.`key` = LOWER(HEX(UNHEX(j.unique_key)))
