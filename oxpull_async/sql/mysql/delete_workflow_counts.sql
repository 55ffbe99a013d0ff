-- delete_workflow_counts: delete the counts of these workflows.
DELETE x
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_workflow_counts AS x FORCE INDEX (PRIMARY) ON x.workflow_id = j.id
