-- upstream_results: the direct upstreams of a node: name, what it is counted as, its task's status (NULL: no task),
-- return value and path.
SELECT up.name, up.counted, t.status, t.return_value::text, t.task_path
  FROM oxpull_workflow_edge e
 CROSS JOIN LATERAL (SELECT * FROM oxpull_workflow_node n WHERE n.task_id = e.upstream_id OFFSET 0) AS up
  LEFT JOIN LATERAL (SELECT * FROM oxpull_task k WHERE k.id = e.upstream_id OFFSET 0) AS t ON true
 WHERE e.downstream_id = :task_id::text::uuid
