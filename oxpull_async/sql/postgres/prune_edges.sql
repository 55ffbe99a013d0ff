-- prune_edges: delete the edges into tasks that have been pruned.
DELETE FROM oxpull_workflow_edge e
 WHERE e.downstream_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
   AND (SELECT t.id FROM oxpull_task t WHERE t.id = e.downstream_id) IS NULL
