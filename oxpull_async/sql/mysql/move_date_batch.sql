-- move_date_batch: give a batch that came over the dates that it had.
UPDATE oxpull_batch SET created_at = CAST(:created_at AS DATETIME(6)), sealed_at = CAST(:sealed_at AS DATETIME(6))
 WHERE id = :id
