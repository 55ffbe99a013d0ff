-- find_cone: a node and all nodes behind it that a cascade ended.
WITH RECURSIVE cone(id) AS (
    SELECT n.task_id FROM oxpull_workflow_node AS n WHERE n.task_id = :id
    UNION
    SELECT e.downstream_id
      FROM cone
      STRAIGHT_JOIN oxpull_workflow_edge AS e FORCE INDEX (PRIMARY) ON e.upstream_id = cone.id
      STRAIGHT_JOIN oxpull_workflow_node AS b FORCE INDEX (PRIMARY) ON b.task_id = e.downstream_id
     WHERE b.cascaded
)
SELECT cone.id FROM cone
