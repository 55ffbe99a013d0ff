-- schema_versions: the migrations that were applied.
SELECT version FROM oxpull_schema ORDER BY version
