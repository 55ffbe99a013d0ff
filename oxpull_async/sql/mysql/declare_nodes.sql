-- declare_nodes: have the end of tasks followed that became nodes after they had been enqueued.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
   SET t.workflow_id = (SELECT n.workflow_id FROM oxpull_workflow_node AS n WHERE n.task_id = j.id)
 WHERE t.workflow_id IS NULL
