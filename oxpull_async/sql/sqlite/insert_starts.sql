-- insert_starts: note the starts of rows just leased, under sliding limits.
INSERT INTO oxpull_rate_start (name, limit_key, started_at, task_id, epoch, expires_at)
SELECT json_extract(j.value, '$.name'), json_extract(j.value, '$.limit_key'), t.last_attempted_at, t.id, t.epoch,
       strftime('%Y-%m-%d %H:%M:%f', t.last_attempted_at, json_extract(j.value, '$.per') || ' seconds') || '000'
  FROM json_each(:starts) AS j CROSS JOIN oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
 WHERE t.id = json_extract(j.value, '$.task_id')
