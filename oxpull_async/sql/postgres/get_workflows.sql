-- get_workflows: these workflows: id, alias, name, status, how many nodes, how many of them are counted as what and
-- how many wait for others, callbacks, and when it was made, sealed and completed.
SELECT w.id::text, w.backend_alias, w.name, c.status, COALESCE(c.total, w.nodes), c.succeeded, c.failed, c.unattributed,
       (SELECT count(*) FROM oxpull_workflow_node n WHERE n.workflow_id = w.id AND n.unmet > 0 AND n.counted IS NULL),
       w.callbacks::text, to_json(w.created_at) #>> '{}', to_json(w.sealed_at) #>> '{}', to_json(c.completed_at) #>> '{}'
  FROM oxpull_workflow w JOIN oxpull_workflow_counts c ON c.workflow_id = w.id
 WHERE w.id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
