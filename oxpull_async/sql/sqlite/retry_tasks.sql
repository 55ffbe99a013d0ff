-- retry_tasks: make ended rows ready once more with one more attempt allowed, or let nodes
-- wait whose edges are not all met; matches the rows it moved.
UPDATE oxpull_task INDEXED BY sqlite_autoindex_oxpull_task_1
   SET (status, due, waiting_for) = (
           SELECT CASE WHEN w.waits THEN 'WAITING' ELSE 'READY' END, CASE WHEN NOT w.waits THEN 1 END,
                  CASE WHEN w.waits THEN 'edges' END
             FROM (SELECT EXISTS (SELECT 1 FROM oxpull_workflow_node AS n
                                   WHERE n.task_id = oxpull_task.id AND n.unmet > 0) AS waits) AS w),
       epoch = epoch + 1, max_attempts = attempts + 1, available_at = :now,
       finished_at = NULL, cancel_requested = false
 WHERE id IN (SELECT value FROM json_each(:ids))
   AND (status IN ('FAILED', 'LOST') OR status = 'DISCARDED' AND :include_discarded)
