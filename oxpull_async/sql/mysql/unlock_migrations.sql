-- unlock_migrations: let other sessions migrate this database.
SELECT RELEASE_LOCK(CONCAT('oxpull migrate ', MD5(DATABASE())))
