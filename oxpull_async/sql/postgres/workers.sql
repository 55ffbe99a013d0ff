-- workers: every known worker: id, host, pid, queues, concurrency, start, last renewal, seconds of lease left, dead, notes.
SELECT w.id::text, w.hostname, w.pid, w.queues::text, w.concurrency, to_json(w.started_at) #>> '{}',
       to_json(w.renewed_at) #>> '{}',
       EXTRACT(EPOCH FROM w.lease_expires_at - :now)::float8, w.dead, w.notes::text,
       (SELECT count(*) FROM oxpull_task t WHERE t.leased_by = w.id)
  FROM oxpull_worker w WHERE w.backend_alias = :backend_alias::text ORDER BY w.id
