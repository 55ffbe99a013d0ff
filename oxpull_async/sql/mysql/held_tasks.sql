-- held_tasks: the attempts running under a worker's id, as id, epoch and whether a cancel is requested.
SELECT id, epoch, cancel_requested FROM oxpull_task FORCE INDEX (oxpull_task_leased)
 WHERE leased_by = :worker_id AND status = 'RUNNING'
