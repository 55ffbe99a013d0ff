-- insert_nodes: make tasks nodes of a workflow; matches those that were none yet. Of those with a mark something may
-- have ended before: the next pass looks.
INSERT INTO oxpull_workflow_node (task_id, workflow_id, name, unmet, cascaded, recheck)
SELECT n.id, :workflow_id::text::uuid, n.name, n.unmet, false, n.recheck
  FROM json_to_recordset(:nodes::text::json) AS n(id uuid, name text, unmet int, recheck smallint)
ON CONFLICT (task_id) DO NOTHING
