-- clear_member_marks: take the recheck marks off these members, or leave another mark; the caller has locked their rows.
WITH n AS MATERIALIZED (
    SELECT * FROM json_to_recordset(:members::text::json) AS n(task_id uuid, batch_id uuid, mark smallint)
)
UPDATE oxpull_batch_member AS m SET recheck = n.mark
  FROM n
 WHERE m.task_id = ANY(ARRAY(SELECT n.task_id FROM n)) AND m.task_id = n.task_id AND m.batch_id = n.batch_id
   AND m.recheck = 1
