-- delete_starts: take starts under sliding limits back that did not happen.
DELETE FROM oxpull_rate_start AS r
 USING json_to_recordset(:starts::text::json) AS n(name text, limit_key text, task_id uuid, epoch bigint)
 WHERE r.name = n.name AND r.limit_key = n.limit_key AND r.task_id = n.task_id AND r.epoch = n.epoch
