-- open_workflows: workflows that are not complete, oldest first from a place: id, name, alias, status, age in seconds,
-- whether it has expired, whether it was cancelled, total, and how many nodes are counted.
SELECT w.id, w.name, w.backend_alias, c.status, (julianday(:now) - julianday(w.created_at)) * 86400.0,
       COALESCE(w.expires_at <= :now, false), c.cancelled, c.total, c.succeeded + c.failed + c.unattributed
  FROM oxpull_workflow_counts AS c INDEXED BY oxpull_workflow_counts_open
  JOIN oxpull_workflow AS w ON w.id = c.workflow_id
 WHERE c.status <> 'COMPLETE' AND c.workflow_id > COALESCE(:after, '')
 ORDER BY c.workflow_id LIMIT :limit
