-- lock_workflow_counts: lock the counts of these workflows in order; returns workflow, status, total, counts, whether
-- cancelled.
SELECT c.workflow_id::text, c.status, c.total, c.succeeded, c.failed, c.unattributed, c.cancelled
  FROM oxpull_workflow_counts c
 WHERE c.workflow_id = ANY(ARRAY(SELECT jsonb_array_elements_text(:ids::text::jsonb)::uuid))
 ORDER BY c.workflow_id FOR UPDATE
