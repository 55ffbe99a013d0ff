-- move_date_workflow: give a workflow that came over the dates that it had.
UPDATE oxpull_workflow SET created_at = :created_at::text::timestamp AT TIME ZONE 'UTC', sealed_at = :sealed_at::text::timestamp AT TIME ZONE 'UTC'
 WHERE id = :id::text::uuid
