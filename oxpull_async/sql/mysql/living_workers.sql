-- living_workers: the host and process of each worker whose lease is good.
SELECT hostname, pid FROM oxpull_worker WHERE NOT dead AND lease_expires_at > :now ORDER BY hostname, pid
