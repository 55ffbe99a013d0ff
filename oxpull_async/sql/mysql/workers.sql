-- workers: every known worker: id, host, pid, queues, concurrency, start, last renewal, seconds of lease left, dead, notes.
SELECT w.id, w.hostname, w.pid, w.queues, w.concurrency, w.started_at, w.renewed_at,
       TIMESTAMPDIFF(MICROSECOND, :now, w.lease_expires_at) / 1000000, w.dead, w.notes,
       (SELECT COUNT(*) FROM oxpull_task AS t FORCE INDEX (oxpull_task_leased) WHERE t.leased_by = w.id)
  FROM oxpull_worker AS w WHERE w.backend_alias = :backend_alias ORDER BY w.id
