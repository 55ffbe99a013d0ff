-- retry_tasks: make ended rows ready once more with one more attempt allowed, or let nodes
-- wait whose edges are not all met; matches the rows it moved.
UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
  LEFT JOIN oxpull_workflow_node AS n FORCE INDEX (PRIMARY) ON n.task_id = j.id
   SET t.status = IF(n.unmet > 0, 'WAITING', 'READY'), t.due = IF(n.unmet > 0, NULL, 1),
       t.waiting_for = IF(n.unmet > 0, 'edges', NULL), t.epoch = t.epoch + 1, t.max_attempts = t.attempts + 1,
       t.available_at = :now, t.finished_at = NULL, t.cancel_requested = false
 WHERE t.status IN ('FAILED', 'LOST') OR t.status = 'DISCARDED' AND :include_discarded
