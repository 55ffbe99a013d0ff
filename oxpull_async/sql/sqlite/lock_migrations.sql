-- lock_migrations: become the one writer, so that no other session migrates this file until the transaction ends.
-- Of what takes the write lock, only this needs no table; a transaction that a caller opened may not hold it yet.
PRAGMA incremental_vacuum(1)
