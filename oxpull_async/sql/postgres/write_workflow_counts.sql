-- write_workflow_counts: write the counts of workflows, which the caller has locked; a complete one gives its key up.
WITH n AS MATERIALIZED (
    SELECT * FROM json_to_recordset(:counts::text::json) AS n(
        id uuid, status text, total int, succeeded int, failed int, unattributed int, cancelled boolean)
)
UPDATE oxpull_workflow_counts AS c
   SET status = n.status, total = n.total, succeeded = n.succeeded, failed = n.failed, unattributed = n.unattributed,
       cancelled = n.cancelled, unique_key = CASE WHEN n.status <> 'COMPLETE' THEN c.unique_key END,
       completed_at = CASE WHEN n.status = 'COMPLETE' THEN COALESCE(c.completed_at, :now) END
  FROM n
 WHERE c.workflow_id = ANY(ARRAY(SELECT n.id FROM n)) AND c.workflow_id = n.id
