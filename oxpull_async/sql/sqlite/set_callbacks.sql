-- set_callbacks: write the callbacks of a workflow whose row the caller has locked.
UPDATE oxpull_workflow SET callbacks = :callbacks WHERE id = :id
