-- lock_workflow: lock a workflow's own row; returns how many nodes it has, whether it is sealed, its name, and the
-- callbacks.
SELECT w.nodes, w.sealed_at IS NOT NULL, w.name, w.callbacks::text
  FROM oxpull_workflow w WHERE w.id = :id::text::uuid FOR UPDATE
