-- set_counted: note what members are counted as, which makes none of them late; the caller has locked their rows.
WITH n AS MATERIALIZED (
    SELECT * FROM json_to_recordset(:members::text::json) AS n(task_id uuid, batch_id uuid, counted text)
)
UPDATE oxpull_batch_member AS m SET counted = n.counted, recheck = NULLIF(m.recheck, 2)
  FROM n
 WHERE m.task_id = ANY(ARRAY(SELECT n.task_id FROM n)) AND m.task_id = n.task_id AND m.batch_id = n.batch_id
