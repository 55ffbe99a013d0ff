-- set_queue_paused: pause or resume the claims of a queue; the time of the change stays where nothing changes.
INSERT INTO oxpull_queue (backend_alias, queue_name, paused, changed_at)
VALUES (:backend_alias, :queue_name, :paused, :now)
ON DUPLICATE KEY UPDATE changed_at = IF(paused = :paused, changed_at, :now), paused = :paused
