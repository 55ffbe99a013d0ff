-- set_apart: let these rows be found in the lanes of rate limits, those that are due and have no limit keys yet.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
   SET t.limit_keys = ''
 WHERE t.due = 1 AND t.limit_keys IS NULL
