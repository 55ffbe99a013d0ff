-- scan_members: the next members of a batch by id: what they are counted as, their tasks' status (NULL: no
-- task), and the recheck mark.
SELECT m.task_id::text, m.counted, (SELECT t.status FROM oxpull_task t WHERE t.id = m.task_id), m.recheck
  FROM (SELECT * FROM oxpull_batch_member f
         WHERE f.batch_id = :batch_id::text::uuid
           AND f.task_id > COALESCE(:after::text, '00000000000000000000000000000000')::uuid
         ORDER BY f.batch_id, f.task_id LIMIT :limit::int) AS m
 ORDER BY m.task_id
