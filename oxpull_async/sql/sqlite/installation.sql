-- installation: the id that tells this database from every other.
SELECT value FROM oxpull_meta WHERE name = 'installation'
