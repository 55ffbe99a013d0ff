-- insert_members: make tasks members of a batch; those with a mark may have ended: the next pass looks.
INSERT INTO oxpull_batch_member (task_id, batch_id, recheck)
SELECT n.id, :batch_id::text::uuid, n.recheck
  FROM json_to_recordset(:members::text::json) AS n(id uuid, recheck smallint)
