-- claim_ages: for how many seconds these rows have been claimed.
SELECT t.id, TIMESTAMPDIFF(MICROSECOND, t.last_attempted_at, :now) / 1000000
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
