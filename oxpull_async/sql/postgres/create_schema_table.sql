-- create_schema_table: make the table that names the migrations which were applied.
-- Differs because IF NOT EXISTS does not wait for a session that is just creating the same table.
DO $$ BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('oxpull migrate'));
    CREATE TABLE IF NOT EXISTS oxpull_schema (
        version    integer PRIMARY KEY,
        name       varchar(255) NOT NULL,
        applied_at timestamptz NOT NULL
    );
END $$
