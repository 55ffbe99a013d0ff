-- move_delete: delete these old rows, which the caller has locked.
-- HEX takes the collation of whatever it is compared with: that of the old tables is not ours to know.
DELETE t
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN django_ox_oxtask AS t FORCE INDEX (PRIMARY) ON t.id = LOWER(HEX(UNHEX(j.id)))
