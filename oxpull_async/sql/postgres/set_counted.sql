-- set_counted: note what members are counted as; the caller has locked their rows.
UPDATE oxpull_batch_member AS m SET counted = n.counted
  FROM json_to_recordset(:members::text::json) AS n(task_id uuid, batch_id uuid, counted text)
 WHERE m.task_id = n.task_id AND m.batch_id = n.batch_id
