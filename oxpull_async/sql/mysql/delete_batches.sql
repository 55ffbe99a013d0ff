-- delete_batches: delete these batches.
DELETE x
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_batch AS x FORCE INDEX (PRIMARY) ON x.id = j.id
