-- find_doomed: the nodes behind these that have not ended, through edges whose bad end discards, `limit` at most.
WITH RECURSIVE doomed(id) AS (
    SELECT e.downstream_id FROM oxpull_workflow_edge e
     WHERE e.upstream_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
       AND e.on_failure = 'discard'
    UNION
    SELECT e.downstream_id
      FROM doomed
     CROSS JOIN LATERAL (
        SELECT f.downstream_id FROM oxpull_workflow_edge f
         WHERE f.upstream_id = doomed.id AND f.on_failure = 'discard' OFFSET 0) AS e
     CROSS JOIN LATERAL (
        SELECT 1 FROM oxpull_workflow_node n
         WHERE n.task_id = doomed.id AND n.counted IS NULL OFFSET 0) AS pending
)
SELECT doomed.id::text FROM doomed LIMIT (SELECT :limit::int)
