-- lock_node_tasks: lock those of these rows that nobody else has locked, in order; returns them with their status.
SELECT t.id, t.status
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
   FOR UPDATE SKIP LOCKED
