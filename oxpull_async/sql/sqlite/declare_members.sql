-- declare_members: have the end of tasks counted that became members after they had been enqueued.
UPDATE oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
   SET batch_id = (SELECT min(m.batch_id) FROM oxpull_batch_member AS m WHERE m.task_id = t.id)
 WHERE t.id IN (SELECT json_extract(n.value, '$.task_id') FROM json_each(:members) AS n) AND t.batch_id IS NULL
