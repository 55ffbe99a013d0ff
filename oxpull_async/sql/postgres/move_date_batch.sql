-- move_date_batch: give a batch that came over the dates that it had.
UPDATE oxpull_batch SET created_at = :created_at::text::timestamp AT TIME ZONE 'UTC', sealed_at = :sealed_at::text::timestamp AT TIME ZONE 'UTC'
 WHERE id = :id::text::uuid
