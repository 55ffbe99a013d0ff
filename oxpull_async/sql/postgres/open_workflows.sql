-- open_workflows: workflows that are not complete, oldest first from a place: id, name, alias, status, age in seconds,
-- whether it has expired, whether it was cancelled, total, and how many nodes are counted.
SELECT w.id::text, w.name, w.backend_alias, c.status, EXTRACT(EPOCH FROM :now - w.created_at)::float8,
       COALESCE(w.expires_at <= :now, false), c.cancelled, c.total, c.succeeded + c.failed + c.unattributed
  FROM oxpull_workflow_counts c JOIN oxpull_workflow w ON w.id = c.workflow_id
 WHERE c.status <> 'COMPLETE' AND c.workflow_id > COALESCE(:after::text, '00000000000000000000000000000000')::uuid
 ORDER BY c.workflow_id LIMIT (SELECT :limit::int)
