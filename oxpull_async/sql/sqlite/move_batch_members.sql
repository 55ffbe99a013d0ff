-- move_batch_members: the next tasks that a batch of the oxpull app counts, by id.
SELECT r.task_id
  FROM oxpull_oxpullbatchmember AS r
 WHERE r.batch_id = :id AND r.task_id > COALESCE(:after, '')
 ORDER BY r.task_id LIMIT :limit
