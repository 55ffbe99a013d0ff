-- grow_batch: count new members of a batch whose row the caller has locked.
UPDATE oxpull_batch SET members = members + :count::int WHERE id = :id::text::uuid
