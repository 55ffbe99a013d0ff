-- release_nodes: make rows ready that waited for edges, due now or when they were asked for.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
   SET t.status = 'READY', t.waiting_for = NULL, t.available_at = GREATEST(:now, COALESCE(t.run_after, :now)),
       t.due = IF(t.run_after > :now, 0, 1)
 WHERE t.waiting_for = 'edges'
