-- register_worker: enter a worker with a fresh lease.
INSERT INTO oxpull_worker (id, backend_alias, hostname, pid, queues, concurrency, started_at, renewed_at,
                           lease_expires_at, dead, notes)
VALUES (:worker_id::text::uuid, :backend_alias::text, :hostname::text, :pid::int, :queues::text::jsonb,
        :concurrency::int, :now, :now, :now + make_interval(secs => :lease_seconds::float8), false, '{}')
