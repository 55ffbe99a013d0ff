-- delete_batch_members: delete the member rows of these batches.
DELETE x
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_batch_member AS x FORCE INDEX (oxpull_batch_member_batch) ON x.batch_id = j.id
