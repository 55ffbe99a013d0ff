-- record_migration: note that a migration was applied.
INSERT INTO oxpull_schema (version, name, applied_at) VALUES (:version, :name, :now)
