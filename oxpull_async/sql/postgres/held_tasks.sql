-- held_tasks: the attempts running under a worker's id, as id, epoch and whether a cancel is requested.
SELECT id::text, epoch, cancel_requested FROM oxpull_task
 WHERE leased_by = :worker_id::text::uuid AND status = 'RUNNING'
