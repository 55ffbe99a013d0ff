-- insert_members: make tasks members of a batch; those with a mark may have ended: the next pass looks.
INSERT INTO oxpull_batch_member (task_id, batch_id, recheck)
SELECT n.id, :batch_id, n.recheck
  FROM JSON_TABLE(:members, '$[*]' COLUMNS (
            id CHAR(32) CHARACTER SET utf8mb4 PATH '$.id' ERROR ON ERROR,
            recheck INT PATH '$.recheck' ERROR ON ERROR)) AS n
