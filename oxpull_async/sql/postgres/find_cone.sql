-- find_cone: a node and all nodes behind it that a cascade ended.
WITH RECURSIVE cone(id) AS (
    SELECT :id::text::uuid
    UNION
    SELECT e.downstream_id
      FROM cone JOIN oxpull_workflow_edge e ON e.upstream_id = cone.id
      JOIN oxpull_workflow_node b ON b.task_id = e.downstream_id
     WHERE b.cascaded
)
SELECT cone.id::text FROM cone
