-- lock_batch: lock a batch's own row; returns how many members it has, whether it is sealed, and its name.
SELECT b.members, b.sealed_at IS NOT NULL, b.name FROM oxpull_batch b WHERE b.id = :id::text::uuid FOR UPDATE
