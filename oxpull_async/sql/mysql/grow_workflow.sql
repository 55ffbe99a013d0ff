-- grow_workflow: count new nodes of a workflow whose row the caller has locked.
UPDATE oxpull_workflow SET nodes = nodes + :count WHERE id = :id
