-- lock_nodes: lock the node rows of these tasks in order: task, workflow, name, unmet edges, what it is counted as,
-- whether a cascade ended it, and the mark.
SELECT n.task_id::text, n.workflow_id::text, n.name, n.unmet, n.counted, n.cascaded, n.recheck
  FROM oxpull_workflow_node n
 WHERE n.task_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
 ORDER BY n.task_id FOR UPDATE
