-- move_workflow_edges: the next edges of a workflow of the oxpull app: id, upstream, downstream, whether it is met.
SELECT r.id, r.upstream_task_id::text, r.downstream_task_id::text, r.satisfied
  FROM oxpull_oxpullworkflowedge r
 WHERE r.workflow_id = :id::text::uuid AND r.id > COALESCE(:after::bigint, 0)
 ORDER BY r.id LIMIT (SELECT :limit::int)
