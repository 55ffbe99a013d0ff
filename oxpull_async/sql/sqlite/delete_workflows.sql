-- delete_workflows: delete these workflows.
DELETE FROM oxpull_workflow WHERE id IN (SELECT value FROM json_each(:ids))
