-- own_tasks: those of these rows that belong to an alias.
SELECT t.id
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
 WHERE t.backend_alias = :backend_alias
