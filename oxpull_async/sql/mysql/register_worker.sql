-- register_worker: enter a worker with a fresh lease.
INSERT INTO oxpull_worker (id, backend_alias, hostname, pid, queues, concurrency, started_at, renewed_at,
                           lease_expires_at, dead, notes)
VALUES (:worker_id, :backend_alias, :hostname, :pid, :queues, :concurrency, :now, :now,
        :now + INTERVAL ROUND(:lease_seconds * 1000000) MICROSECOND, false, '{}')
