-- list_edges: the edges of a workflow: downstream task, upstream's name, and what its bad end does.
SELECT e.downstream_id::text, up.name, e.on_failure
  FROM oxpull_workflow_node up JOIN oxpull_workflow_edge e ON e.upstream_id = up.task_id
 WHERE up.workflow_id = :workflow_id::text::uuid
