-- mark_begun: note that claimed attempts have started, so that a reap charges them.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET begun = true
 WHERE (id, epoch) IN (SELECT json_extract(value, '$.id'), json_extract(value, '$.epoch') FROM json_each(:attempts))
   AND status = 'RUNNING'
