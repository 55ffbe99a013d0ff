-- find_bad_ends: nodes of a workflow that ended badly and from which open edges lead, as `lock_nodes` gives them.
SELECT n.task_id, n.workflow_id, n.name, n.unmet, n.counted, n.cascaded, n.recheck
  FROM oxpull_workflow_node AS n FORCE INDEX (oxpull_workflow_node_name)
 WHERE n.workflow_id = :workflow_id AND n.counted IN ('failed', 'unattributed')
   AND EXISTS (SELECT 1 FROM oxpull_workflow_edge AS e FORCE INDEX (PRIMARY)
                WHERE e.upstream_id = n.task_id AND e.state IS NULL)
   FOR UPDATE
