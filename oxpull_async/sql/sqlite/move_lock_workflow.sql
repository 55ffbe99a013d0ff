-- move_lock_workflow: a workflow of the oxpull app as it is now, unless somebody else has it locked or it is complete.
SELECT g.name, g.status, g.on_complete_path, g.on_complete_args, g.on_complete_kwargs, g.on_success_path,
       g.on_success_args, g.on_success_kwargs, g.created_at, g.sealed_at
  FROM oxpull_oxpullworkflow AS g
 WHERE g.id = :id AND g.status IN ('OPEN', 'SEALED')
