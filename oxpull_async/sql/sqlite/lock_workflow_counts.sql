-- lock_workflow_counts: the counts of these workflows: workflow, status, total, the counts, whether it was cancelled.
-- Locks nothing: there is one writer.
SELECT c.workflow_id, c.status, c.total, c.succeeded, c.failed, c.unattributed, c.cancelled
  FROM oxpull_workflow_counts AS c
 WHERE c.workflow_id IN (SELECT value FROM json_each(:ids))
