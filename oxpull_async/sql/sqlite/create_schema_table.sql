-- create_schema_table: make the table that names the migrations which were applied.
CREATE TABLE IF NOT EXISTS oxpull_schema (
    version    integer NOT NULL PRIMARY KEY,
    name       varchar(255) NOT NULL,
    applied_at datetime NOT NULL
)
