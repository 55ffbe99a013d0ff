-- remove_worker: forget a worker that stopped in order.
DELETE FROM oxpull_worker WHERE id = :worker_id::text::uuid
