-- seal_workflow: seal a workflow whose row the caller has locked.
UPDATE oxpull_workflow SET sealed_at = :now WHERE id = :id
