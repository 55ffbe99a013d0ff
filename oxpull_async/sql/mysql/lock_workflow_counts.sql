-- lock_workflow_counts: lock the counts of these workflows in order; returns workflow, status, total, counts, whether
-- cancelled.
SELECT c.workflow_id, c.status, c.total, c.succeeded, c.failed, c.unattributed, c.cancelled
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_workflow_counts AS c FORCE INDEX (PRIMARY) ON c.workflow_id = j.id
   FOR UPDATE
