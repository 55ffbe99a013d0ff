-- set_counted: note what members are counted as, which makes none of them late; the caller has locked their rows.
UPDATE JSON_TABLE(:members, '$[*]' COLUMNS (
            task_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.task_id' ERROR ON ERROR,
            batch_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.batch_id' ERROR ON ERROR,
            counted VARCHAR(12) CHARACTER SET utf8mb4 PATH '$.counted' ERROR ON ERROR)) AS n
  STRAIGHT_JOIN oxpull_batch_member AS m FORCE INDEX (PRIMARY) ON m.task_id = n.task_id AND m.batch_id = n.batch_id
   SET m.counted = n.counted, m.recheck = NULLIF(m.recheck, 2)
