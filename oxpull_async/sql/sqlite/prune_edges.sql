-- prune_edges: delete the edges into tasks that have been pruned.
DELETE FROM oxpull_workflow_edge
 WHERE downstream_id IN (SELECT value FROM json_each(:ids))
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS t WHERE t.id = oxpull_workflow_edge.downstream_id)
