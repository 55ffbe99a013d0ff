-- write_nodes: write node rows, which the caller has locked or knows under the lock of their workflow's counts.
UPDATE oxpull_workflow_node AS m INDEXED BY sqlite_autoindex_oxpull_workflow_node_1
   SET unmet = n.unmet, counted = n.counted, cascaded = n.cascaded, recheck = n.recheck
  FROM (WITH given AS MATERIALIZED (
            SELECT json_extract(j.value, '$.id') AS id, json_extract(j.value, '$.unmet') AS unmet,
                   json_extract(j.value, '$.counted') AS counted, json_extract(j.value, '$.cascaded') AS cascaded,
                   json_extract(j.value, '$.recheck') AS recheck
              FROM json_each(:nodes) AS j)
        SELECT * FROM given) AS n
 WHERE m.task_id = n.id
