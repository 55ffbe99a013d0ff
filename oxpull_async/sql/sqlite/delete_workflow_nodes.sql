-- delete_workflow_nodes: delete the node rows of these workflows.
DELETE FROM oxpull_workflow_node WHERE workflow_id IN (SELECT value FROM json_each(:ids))
