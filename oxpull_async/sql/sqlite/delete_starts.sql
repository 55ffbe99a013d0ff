-- delete_starts: take starts under sliding limits back that did not happen.
DELETE FROM oxpull_rate_start
 WHERE rowid IN (
    SELECT r.rowid FROM json_each(:starts) AS j
     CROSS JOIN oxpull_rate_start AS r INDEXED BY sqlite_autoindex_oxpull_rate_start_1
     WHERE r.name = json_extract(j.value, '$.name') AND r.limit_key = json_extract(j.value, '$.limit_key')
       AND r.task_id = json_extract(j.value, '$.task_id') AND r.epoch = json_extract(j.value, '$.epoch'))
