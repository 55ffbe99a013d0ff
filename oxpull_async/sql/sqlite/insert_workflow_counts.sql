-- insert_workflow_counts: store the counts of a new workflow; matches none where another one holds its key.
INSERT INTO oxpull_workflow_counts (workflow_id, status, succeeded, failed, unattributed, cancelled, unique_key)
VALUES (:id, 'OPEN', 0, 0, 0, false, :unique_key)
ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL DO NOTHING
