-- lock_workflow: a workflow's own row: how many nodes it has, whether it is sealed, its name, and the callbacks. Locks
-- nothing: there is one writer.
SELECT w.nodes, w.sealed_at IS NOT NULL, w.name, w.callbacks FROM oxpull_workflow AS w WHERE w.id = :id
