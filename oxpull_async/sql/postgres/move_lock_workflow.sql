-- move_lock_workflow: a workflow of the oxpull app as it is now, unless somebody else has it locked or it is complete.
SELECT g.name, g.status, g.on_complete_path, g.on_complete_args::text, g.on_complete_kwargs::text, g.on_success_path,
       g.on_success_args::text, g.on_success_kwargs::text, to_json(g.created_at) #>> '{}',
       to_json(g.sealed_at) #>> '{}'
  FROM oxpull_oxpullworkflow g
 WHERE g.id = :id::text::uuid AND g.status IN ('OPEN', 'SEALED')
   FOR UPDATE SKIP LOCKED
