-- move_date_workflow: give a workflow that came over the dates that it had.
UPDATE oxpull_workflow SET created_at = CAST(:created_at AS DATETIME(6)), sealed_at = CAST(:sealed_at AS DATETIME(6))
 WHERE id = :id
