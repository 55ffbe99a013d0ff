-- move_forget_scan: delete the place of the oxpull app's walk over a workflow.
DELETE FROM oxpull_oxpullworkflowscan WHERE workflow_id = :id::text::uuid
