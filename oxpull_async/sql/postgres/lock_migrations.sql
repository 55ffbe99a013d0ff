-- lock_migrations: wait until no other session migrates this database; held until the transaction ends.
SELECT pg_advisory_xact_lock(hashtext('oxpull migrate'))
