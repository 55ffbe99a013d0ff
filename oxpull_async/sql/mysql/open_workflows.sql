-- open_workflows: workflows that are not complete, oldest first from a place: id, name, alias, status, age in seconds,
-- whether it has expired, whether it was cancelled, total, and how many nodes are counted.
SELECT w.id, w.name, w.backend_alias, c.status, TIMESTAMPDIFF(MICROSECOND, w.created_at, :now) / 1e6,
       COALESCE(w.expires_at <= :now, false), c.cancelled, c.total, c.succeeded + c.failed + c.unattributed
  FROM oxpull_workflow_counts AS c FORCE INDEX (oxpull_workflow_counts_open)
  JOIN oxpull_workflow AS w ON w.id = c.workflow_id
 WHERE c.status IN ('OPEN', 'SEALED') AND (:after IS NULL OR c.workflow_id > :after)
 ORDER BY c.workflow_id LIMIT :limit
