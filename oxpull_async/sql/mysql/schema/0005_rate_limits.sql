-- 0005: rate limits. Statements end with a semicolon at the end of a line.
-- The rows of oxpull_rate_limit are what living workers declare. A start under a sliding limit is a row of
-- oxpull_rate_start; other starts are counted in their window, of which a limit has one for each key.
CREATE TABLE IF NOT EXISTS oxpull_rate_limit (
    worker_id     :uuid_type NOT NULL,
    name          varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    backend_alias varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    most          integer NOT NULL,
    per           double precision NOT NULL,
    sliding       bool NOT NULL,
    tasks         json NOT NULL,
    queues        json NOT NULL,
    PRIMARY KEY (worker_id, name)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS oxpull_rate_window (
    name       varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    limit_key  varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    started_at datetime(6) NOT NULL,
    used       integer NOT NULL,
    held_until datetime(6) NULL,
    expires_at datetime(6) NOT NULL,
    PRIMARY KEY (name, limit_key),
    INDEX oxpull_rate_window_age (expires_at)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS oxpull_rate_start (
    name       varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    limit_key  varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    started_at datetime(6) NOT NULL,
    task_id    :uuid_type NOT NULL,
    epoch      bigint NOT NULL,
    expires_at datetime(6) NOT NULL,
    PRIMARY KEY (name, limit_key, started_at, task_id),
    INDEX oxpull_rate_start_age (expires_at)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
