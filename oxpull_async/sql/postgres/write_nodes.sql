-- write_nodes: write node rows, which the caller has locked or knows under the lock of their workflow's counts.
WITH n AS MATERIALIZED (
    SELECT * FROM json_to_recordset(:nodes::text::json)
        AS n(id uuid, unmet int, counted text, cascaded boolean, recheck smallint)
)
UPDATE oxpull_workflow_node AS m
   SET unmet = n.unmet, counted = n.counted, cascaded = n.cascaded, recheck = n.recheck
  FROM n
 WHERE m.task_id = ANY(ARRAY(SELECT n.id FROM n)) AND m.task_id = n.id
