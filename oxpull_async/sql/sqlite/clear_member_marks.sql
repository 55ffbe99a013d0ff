-- clear_member_marks: take the recheck marks off these members, or leave another mark; the caller has locked their rows.
UPDATE oxpull_batch_member AS m INDEXED BY sqlite_autoindex_oxpull_batch_member_1
   SET recheck = n.mark
  FROM (WITH given AS MATERIALIZED (
            SELECT json_extract(j.value, '$.task_id') AS task_id, json_extract(j.value, '$.batch_id') AS batch_id,
                   json_extract(j.value, '$.mark') AS mark
              FROM json_each(:members) AS j)
        SELECT * FROM given) AS n
 WHERE m.task_id = n.task_id AND m.batch_id = n.batch_id AND m.recheck = 1
