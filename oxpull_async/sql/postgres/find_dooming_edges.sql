-- find_dooming_edges: edges into these nodes whose bad end discards them: upstream, downstream, and what the upstream
-- is counted as; where its node is gone, the edge's state.
SELECT e.upstream_id::text, e.downstream_id::text, CASE WHEN up.task_id IS NULL THEN e.state ELSE up.counted END
  FROM oxpull_workflow_edge e LEFT JOIN oxpull_workflow_node up ON up.task_id = e.upstream_id
 WHERE e.downstream_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
   AND e.on_failure = 'discard'
