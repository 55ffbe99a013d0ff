-- move_forget_edges: delete the edges of a workflow of the oxpull app.
DELETE FROM oxpull_oxpullworkflowedge WHERE workflow_id = :id::text::uuid
