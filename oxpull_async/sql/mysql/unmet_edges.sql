-- unmet_edges: edges into a node that are not met, `limit` at most: the upstream's name and task, that task's status
-- (NULL: no task), and what a bad end of it does.
SELECT up.name, e.upstream_id, t.status, e.on_failure
  FROM oxpull_workflow_edge AS e FORCE INDEX (oxpull_workflow_edge_downstream)
  STRAIGHT_JOIN oxpull_workflow_node AS up FORCE INDEX (PRIMARY) ON up.task_id = e.upstream_id
  LEFT JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = e.upstream_id
 WHERE e.downstream_id = :task_id AND NOT e.state <=> 'met'
 LIMIT :limit
