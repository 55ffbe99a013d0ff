-- get_workflows: these workflows: id, alias, name, status, how many nodes, how many of them are counted as what and
-- how many wait for others, callbacks, and when it was made, sealed and completed.
SELECT w.id, w.backend_alias, w.name, c.status, COALESCE(c.total, w.nodes), c.succeeded, c.failed, c.unattributed,
       (SELECT count(*) FROM oxpull_workflow_node AS n INDEXED BY oxpull_workflow_node_name
         WHERE n.workflow_id = w.id AND n.unmet > 0 AND n.counted IS NULL),
       w.callbacks, w.created_at, w.sealed_at, c.completed_at
  FROM oxpull_workflow AS w JOIN oxpull_workflow_counts AS c ON c.workflow_id = w.id
 WHERE w.id IN (SELECT value FROM json_each(:ids))
