-- set_counted: note what members are counted as, which makes none of them late; the caller has locked their rows.
UPDATE oxpull_batch_member AS m INDEXED BY sqlite_autoindex_oxpull_batch_member_1
   SET counted = n.counted, recheck = NULLIF(m.recheck, 2)
  FROM (WITH given AS MATERIALIZED (
            SELECT json_extract(j.value, '$.task_id') AS task_id, json_extract(j.value, '$.batch_id') AS batch_id,
                   json_extract(j.value, '$.counted') AS counted
              FROM json_each(:members) AS j)
        SELECT * FROM given) AS n
 WHERE m.task_id = n.task_id AND m.batch_id = n.batch_id
