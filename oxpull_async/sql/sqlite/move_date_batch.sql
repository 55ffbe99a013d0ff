-- move_date_batch: give a batch that came over the dates that it had.
UPDATE oxpull_batch SET created_at = :created_at, sealed_at = :sealed_at
 WHERE id = :id
