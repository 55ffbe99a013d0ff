-- prune_members: delete the member rows of tasks that have been pruned.
DELETE FROM oxpull_batch_member
 WHERE task_id IN (SELECT value FROM json_each(:ids))
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS t WHERE t.id = oxpull_batch_member.task_id)
