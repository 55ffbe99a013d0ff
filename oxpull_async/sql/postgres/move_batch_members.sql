-- move_batch_members: the next tasks that a batch of the oxpull app counts, by id.
SELECT r.task_id::text
  FROM oxpull_oxpullbatchmember r
 WHERE r.batch_id = :id::text::uuid AND r.task_id > COALESCE(:after::text, '00000000000000000000000000000000')::uuid
 ORDER BY r.task_id LIMIT (SELECT :limit::int)
