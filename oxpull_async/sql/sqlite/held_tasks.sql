-- held_tasks: the attempts running under a worker's id: id, epoch, whether a cancel is requested, and what hangs on them.
SELECT id, epoch, cancel_requested, CASE WHEN reruns THEN unique_key END, lock_key, batch_id,
       workflow_id
  FROM oxpull_task
 WHERE leased_by = :worker_id AND status = 'RUNNING'
