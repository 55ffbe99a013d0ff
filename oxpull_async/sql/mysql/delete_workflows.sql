-- delete_workflows: delete these workflows.
DELETE x
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_workflow AS x FORCE INDEX (PRIMARY) ON x.id = j.id
