-- workers: every known worker: id, host, pid, queues, concurrency, start, last renewal, seconds of lease left, dead, notes.
SELECT w.id, w.hostname, w.pid, w.queues, w.concurrency, w.started_at, w.renewed_at,
       (julianday(w.lease_expires_at) - julianday(:now)) * 86400.0, w.dead, w.notes,
       (SELECT count(*) FROM oxpull_task t WHERE t.leased_by = w.id)
  FROM oxpull_worker w WHERE w.backend_alias = :backend_alias ORDER BY w.id
