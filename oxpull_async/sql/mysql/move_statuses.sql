-- move_statuses: which of these old rows are there, and in which status.
-- HEX takes the collation of whatever it is compared with: that of the old tables is not ours to know.
SELECT t.id, t.status
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN django_ox_oxtask AS t FORCE INDEX (PRIMARY) ON t.id = LOWER(HEX(UNHEX(j.id)))
