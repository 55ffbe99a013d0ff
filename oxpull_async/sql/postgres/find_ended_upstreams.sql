-- find_ended_upstreams: ended nodes from which open edges lead to these nodes, as `lock_nodes` gives them.
SELECT DISTINCT up.task_id::text, up.workflow_id::text, up.name, up.unmet, up.counted, up.cascaded, up.recheck
  FROM oxpull_workflow_edge e JOIN oxpull_workflow_node up ON up.task_id = e.upstream_id
 WHERE e.downstream_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
   AND e.state IS NULL AND up.counted IS NOT NULL
