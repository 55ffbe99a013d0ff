-- discard_nodes: end rows that waited for edges, an upstream of theirs having ended badly; the errors say which.
UPDATE oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
   SET status = 'DISCARDED', waiting_for = NULL, due = NULL, finished_at = :now,
       errors = json_insert(t.errors, '$[#]', json_set(n.error, '$.at', :now)),
       recheck = CASE WHEN t.reruns THEN 1 ELSE t.recheck END
  FROM (WITH doomed AS MATERIALIZED (
            SELECT json_extract(j.value, '$.id') AS id, json_extract(j.value, '$.error') AS error, 'edges' AS waits
              FROM json_each(:tasks) AS j)
        SELECT * FROM doomed) AS n
 WHERE t.id = n.id AND t.waiting_for = n.waits
