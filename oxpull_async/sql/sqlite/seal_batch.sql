-- seal_batch: seal a batch whose row the caller has locked.
UPDATE oxpull_batch SET sealed_at = :now WHERE id = :id
