-- move_date_workflow: give a workflow that came over the dates that it had.
UPDATE oxpull_workflow SET created_at = :created_at, sealed_at = :sealed_at
 WHERE id = :id
