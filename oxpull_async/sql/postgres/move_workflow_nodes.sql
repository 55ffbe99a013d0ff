-- move_workflow_nodes: the next nodes of a workflow of the oxpull app, by the ids of their tasks: id, name, outcome.
SELECT r.task_id::text, r.name, r.outcome
  FROM oxpull_oxpullworkflownode r
 WHERE r.workflow_id = :id::text::uuid AND r.task_id > COALESCE(:after::text, '00000000000000000000000000000000')::uuid
 ORDER BY r.task_id LIMIT (SELECT :limit::int)
