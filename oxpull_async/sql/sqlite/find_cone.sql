-- find_cone: a node and all nodes behind it that a cascade ended.
WITH RECURSIVE cone(id) AS (
    SELECT :id
    UNION
    SELECT e.downstream_id
      FROM cone
     CROSS JOIN oxpull_workflow_edge AS e INDEXED BY sqlite_autoindex_oxpull_workflow_edge_1 ON e.upstream_id = cone.id
     CROSS JOIN oxpull_workflow_node AS b INDEXED BY sqlite_autoindex_oxpull_workflow_node_1
        ON b.task_id = e.downstream_id
     WHERE b.cascaded
)
SELECT cone.id FROM cone
