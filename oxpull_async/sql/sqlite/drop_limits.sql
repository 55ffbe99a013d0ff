-- drop_limits: take back the rate limits that a worker declared.
DELETE FROM oxpull_rate_limit WHERE worker_id = :worker_id
