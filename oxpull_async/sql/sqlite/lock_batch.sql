-- lock_batch: a batch's own row: how many members it has, whether it is sealed, and its name. Locks nothing: there is one
-- writer.
SELECT b.members, b.sealed_at IS NOT NULL, b.name FROM oxpull_batch AS b WHERE b.id = :id
