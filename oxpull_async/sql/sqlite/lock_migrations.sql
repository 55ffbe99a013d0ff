-- lock_migrations: become the one writer, so that no other session migrates this database until the transaction ends.
UPDATE oxpull_schema SET name = name WHERE version < 0
