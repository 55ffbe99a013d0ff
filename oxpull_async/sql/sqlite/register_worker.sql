-- register_worker: enter a worker with a fresh lease.
INSERT INTO oxpull_worker (id, backend_alias, hostname, pid, queues, concurrency, started_at, renewed_at,
                           lease_expires_at, dead, notes)
VALUES (:worker_id, :backend_alias, :hostname, :pid, :queues, :concurrency, :now, :now,
        strftime('%Y-%m-%d %H:%M:%f', :now, :lease_seconds || ' seconds') || '000', false, '{}')
