-- lock_migrations: wait until no other session migrates this database; held until `unlock_migrations`.
SELECT GET_LOCK(CONCAT('oxpull migrate ', MD5(DATABASE())), 31536000)
