-- find_marked_members: member rows that carry a recheck mark: task and batch.
SELECT m.task_id::text, m.batch_id::text FROM oxpull_batch_member m
 WHERE m.recheck = 1 ORDER BY m.task_id LIMIT :limit::int
