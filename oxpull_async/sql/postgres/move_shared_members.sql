-- move_shared_members: the tasks that several batches count which are not complete, each with its batches.
SELECT m.task_id::text, m.batch_id::text
  FROM oxpull_oxpullbatchmember m JOIN oxpull_oxpullbatch b ON b.id = m.batch_id
 WHERE b.status <> 'COMPLETE'
   AND m.task_id IN (SELECT o.task_id
                       FROM oxpull_oxpullbatchmember o JOIN oxpull_oxpullbatch c ON c.id = o.batch_id
                      WHERE c.status <> 'COMPLETE' GROUP BY o.task_id HAVING COUNT(*) > 1)
 ORDER BY m.task_id
