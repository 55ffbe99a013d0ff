-- 0001: tasks, workers, queues. Statements end with a semicolon at the end of a line.
-- There is no partial index: rows that are not due have due NULL or 0 and so stand apart in the ready index.
CREATE TABLE IF NOT EXISTS oxpull_task (
    id                 :uuid_type NOT NULL PRIMARY KEY,
    backend_alias      varchar(128) NOT NULL,
    task_path          varchar(255) NOT NULL,
    queue_name         varchar(128) NOT NULL,
    priority           smallint NOT NULL,
    `rank`             smallint NOT NULL,
    status             varchar(12) NOT NULL,
    due                smallint NULL,
    waiting_for        varchar(12) NULL,
    args               json NOT NULL,
    kwargs             json NOT NULL,
    run_after          datetime(6) NULL,
    available_at       datetime(6) NOT NULL,
    enqueued_at        datetime(6) NOT NULL,
    started_at         datetime(6) NULL,
    last_attempted_at  datetime(6) NULL,
    prior_attempted_at datetime(6) NULL,
    finished_at        datetime(6) NULL,
    attempts           integer NOT NULL,
    max_attempts       integer NOT NULL,
    epoch              bigint NOT NULL,
    begun              bool NOT NULL,
    refunds            smallint NOT NULL,
    snoozes            smallint NOT NULL,
    timeout            double precision NULL,
    leased_by          :uuid_type NULL,
    worker_ids         json NOT NULL,
    errors             json NOT NULL,
    return_value       json NULL,
    progress           json NULL,
    cancel_requested   bool NOT NULL,
    deferred_until     datetime(6) GENERATED ALWAYS AS (CASE WHEN due = 0 THEN available_at END) VIRTUAL,
    INDEX oxpull_task_ready (due, backend_alias, queue_name, `rank`, available_at, id),
    INDEX oxpull_task_deferred (deferred_until),
    INDEX oxpull_task_leased (leased_by)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS oxpull_worker (
    id               :uuid_type NOT NULL PRIMARY KEY,
    backend_alias    varchar(128) NOT NULL,
    hostname         varchar(255) NOT NULL,
    pid              integer NOT NULL,
    queues           json NULL,
    concurrency      integer NOT NULL,
    started_at       datetime(6) NOT NULL,
    renewed_at       datetime(6) NOT NULL,
    lease_expires_at datetime(6) NOT NULL,
    dead             bool NOT NULL,
    notes            json NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS oxpull_queue (
    backend_alias varchar(128) NOT NULL,
    queue_name    varchar(128) NOT NULL,
    paused        bool NOT NULL,
    changed_at    datetime(6) NOT NULL,
    PRIMARY KEY (backend_alias, queue_name)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS oxpull_meta (
    name  varchar(64) NOT NULL PRIMARY KEY,
    value varchar(255) NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
INSERT IGNORE INTO oxpull_meta (name, value) VALUES ('installation', UUID());
