-- mark_begun: note that claimed attempts have started, so that a reap charges them.
UPDATE oxpull_task AS t SET begun = true
  FROM json_to_recordset(:attempts::text::json) AS a(id uuid, epoch bigint)
 WHERE t.id = a.id AND t.epoch = a.epoch AND t.status || '' = 'RUNNING'
