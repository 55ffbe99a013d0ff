-- 0005: rate limits. Statements end with a semicolon at the end of a line.
-- The rows of oxpull_rate_limit are what living workers declare. A start under a sliding limit is a row of
-- oxpull_rate_start; other starts are counted in their window, of which a limit has one for each key.
CREATE TABLE oxpull_rate_limit (
    worker_id     :uuid_type NOT NULL,
    name          varchar(128) NOT NULL,
    backend_alias varchar(128) NOT NULL,
    most          integer NOT NULL,
    per           double precision NOT NULL,
    sliding       boolean NOT NULL,
    tasks         jsonb NOT NULL,
    queues        jsonb NOT NULL,
    PRIMARY KEY (worker_id, name)
);
CREATE TABLE oxpull_rate_window (
    name       varchar(128) NOT NULL,
    limit_key  varchar(16) NOT NULL,
    started_at timestamptz NOT NULL,
    used       integer NOT NULL,
    held_until timestamptz NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (name, limit_key)
);
CREATE INDEX oxpull_rate_window_age ON oxpull_rate_window (expires_at);
CREATE TABLE oxpull_rate_start (
    name       varchar(128) NOT NULL,
    limit_key  varchar(16) NOT NULL,
    started_at timestamptz NOT NULL,
    task_id    :uuid_type NOT NULL,
    epoch      bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (name, limit_key, started_at, task_id)
);
CREATE INDEX oxpull_rate_start_age ON oxpull_rate_start (expires_at);
