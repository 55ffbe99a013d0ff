-- insert_nodes: make tasks nodes of a workflow; matches those that were none yet. Of those with a mark something may
-- have ended before: the next pass looks.
INSERT INTO oxpull_workflow_node (task_id, workflow_id, name, unmet, cascaded, recheck)
SELECT json_extract(n.value, '$.id'), :workflow_id, json_extract(n.value, '$.name'), json_extract(n.value, '$.unmet'),
       false, json_extract(n.value, '$.recheck')
  FROM json_each(:nodes) AS n
 WHERE true
ON CONFLICT (task_id) DO NOTHING
