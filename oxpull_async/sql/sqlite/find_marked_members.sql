-- find_marked_members: member rows that carry a recheck mark: task and batch.
SELECT m.task_id, m.batch_id FROM oxpull_batch_member AS m INDEXED BY oxpull_batch_member_recheck
 WHERE m.recheck = 1 ORDER BY m.task_id LIMIT :limit
