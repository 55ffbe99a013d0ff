-- held_tasks: the attempts running under a worker's id: id, epoch, whether a cancel is requested, and what hangs on them.
SELECT id, epoch, cancel_requested, IF(reruns, unique_key, NULL), lock_key, batch_id,
       workflow_id
  FROM oxpull_task FORCE INDEX (oxpull_task_leased)
 WHERE leased_by = :worker_id AND status = 'RUNNING'
