-- refuse_tasks: end due rows whose running lock is taken and which do not wait for it; the errors say who holds it.
UPDATE oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
   SET status = 'DISCARDED', due = NULL, finished_at = :now,
       errors = json_insert(t.errors, '$[#]', json_set(n.error, '$.at', :now)),
       recheck = CASE WHEN t.reruns THEN 1 ELSE t.recheck END
  FROM (WITH refused AS MATERIALIZED (
            SELECT json_extract(j.value, '$.id') AS id, json_extract(j.value, '$.error') AS error, 1 AS due
              FROM json_each(:tasks) AS j)
        SELECT * FROM refused) AS n
 WHERE t.id = n.id AND t.due = n.due
