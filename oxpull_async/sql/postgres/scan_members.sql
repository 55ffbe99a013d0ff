-- scan_members: the next members of a batch by id: what they are counted as, their tasks' status (NULL: no
-- task), and the recheck mark.
SELECT m.task_id::text, m.counted, t.status, m.recheck
  FROM oxpull_batch_member m LEFT JOIN oxpull_task t ON t.id = m.task_id
 WHERE m.batch_id = :batch_id::text::uuid
   AND m.task_id > COALESCE(:after::text, '00000000000000000000000000000000')::uuid
 ORDER BY m.task_id LIMIT (SELECT :limit::int)
