-- paused_queues: the names of the paused queues.
SELECT queue_name FROM oxpull_queue WHERE backend_alias = :backend_alias AND paused ORDER BY queue_name
