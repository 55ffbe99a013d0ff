-- lock_waiting_nodes: lock those of these rows that wait for edges and that nobody else has locked: id, queue, whether
-- it is of a batch, and the name of an upstream whose edge has failed, if one has.
SELECT t.id, t.queue_name, t.batch_id IS NOT NULL,
       (SELECT up.name
          FROM oxpull_workflow_edge AS e FORCE INDEX (oxpull_workflow_edge_downstream)
          STRAIGHT_JOIN oxpull_workflow_node AS up FORCE INDEX (PRIMARY) ON up.task_id = e.upstream_id
         WHERE e.downstream_id = t.id AND e.state = 'failed' LIMIT 1)
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
 WHERE t.waiting_for = 'edges'
   FOR UPDATE SKIP LOCKED
