-- find_bad_ends: nodes of a workflow that ended badly and from which open edges lead, as `lock_nodes` gives them.
SELECT n.task_id::text, n.workflow_id::text, n.name, n.unmet, n.counted, n.cascaded, n.recheck
  FROM oxpull_workflow_node n
 WHERE n.workflow_id = :workflow_id::text::uuid AND n.counted IN ('failed', 'unattributed')
   AND EXISTS (SELECT 1 FROM oxpull_workflow_edge e WHERE e.upstream_id = n.task_id AND e.state IS NULL)
