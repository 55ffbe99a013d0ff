-- delete_batch_counts: delete the counts of these batches.
DELETE x
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_batch_counts AS x FORCE INDEX (PRIMARY) ON x.batch_id = j.id
