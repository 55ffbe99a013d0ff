-- delete_workflow_counts: delete the counts of these workflows.
DELETE FROM oxpull_workflow_counts WHERE workflow_id IN (SELECT value FROM json_each(:ids))
