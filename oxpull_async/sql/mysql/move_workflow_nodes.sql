-- move_workflow_nodes: the next nodes of a workflow of the oxpull app, by the ids of their tasks: id, name, outcome.
SELECT r.task_id, r.name, r.outcome
  FROM oxpull_oxpullworkflownode AS r
 WHERE r.workflow_id = :id AND (:after IS NULL OR r.task_id > :after)
 ORDER BY r.task_id LIMIT :limit
