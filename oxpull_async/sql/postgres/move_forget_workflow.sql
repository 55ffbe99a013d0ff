-- move_forget_workflow: delete a workflow of the oxpull app, which the caller has locked.
DELETE FROM oxpull_oxpullworkflow WHERE id = :id::text::uuid
