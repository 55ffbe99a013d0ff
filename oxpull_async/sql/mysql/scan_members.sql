-- scan_members: the next members of a batch by id: what they are counted as, their tasks' status (NULL: no
-- task), and the recheck mark.
SELECT m.task_id, m.counted, t.status, m.recheck
  FROM oxpull_batch_member AS m FORCE INDEX (oxpull_batch_member_batch) LEFT JOIN oxpull_task AS t ON t.id = m.task_id
 WHERE m.batch_id = :batch_id AND (:after IS NULL OR m.task_id > :after)
 ORDER BY m.task_id LIMIT :limit
