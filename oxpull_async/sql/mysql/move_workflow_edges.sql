-- move_workflow_edges: the next edges of a workflow of the oxpull app: id, upstream, downstream, whether it is met.
SELECT r.id, r.upstream_task_id, r.downstream_task_id, r.satisfied
  FROM oxpull_oxpullworkflowedge AS r
 WHERE r.workflow_id = :id AND r.id > COALESCE(:after, 0)
 ORDER BY r.id LIMIT :limit
