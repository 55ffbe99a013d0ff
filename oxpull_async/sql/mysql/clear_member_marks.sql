-- clear_member_marks: take the recheck marks off the member rows of these tasks.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_batch_member AS m FORCE INDEX (PRIMARY) ON m.task_id = j.id
   SET m.recheck = NULL
 WHERE m.recheck = 1
