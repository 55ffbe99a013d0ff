-- clear_member_marks: take the recheck marks off these members, or leave another mark; the caller has locked their rows.
UPDATE JSON_TABLE(:members, '$[*]' COLUMNS (
            task_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.task_id' ERROR ON ERROR,
            batch_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.batch_id' ERROR ON ERROR,
            mark INT PATH '$.mark' ERROR ON ERROR)) AS n
  STRAIGHT_JOIN oxpull_batch_member AS m FORCE INDEX (PRIMARY) ON m.task_id = n.task_id AND m.batch_id = n.batch_id
   SET m.recheck = n.mark
 WHERE m.recheck = 1
