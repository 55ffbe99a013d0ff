-- move_forget_nodes: delete the nodes of a workflow of the oxpull app.
DELETE FROM oxpull_oxpullworkflownode WHERE workflow_id = :id
