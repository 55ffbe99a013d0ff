-- 0001: tasks, workers, queues. Statements end with a semicolon at the end of a line.
-- There is no partial index: `ready_lane` is 1 for due rows without a running lock, 2 for those with one, 3 for those with
-- limit keys and else NULL; only the last have a `limit_lane`. Rows with a recheck mark stand apart from the others without
-- a lease in the leased index. `lock_state` is NULL but for rows with a running lock that wait for it, run or are due
-- without limit keys: w, r or d before the key.
-- /*M! is read by MariaDB only, /*!8 by MySQL only: names are compared byte for byte, trailing spaces included, and
-- users' values have a check of their own, since MariaDB's json refuses what is nested more than 31 deep.
CREATE TABLE IF NOT EXISTS oxpull_task (
    id                 :uuid_type NOT NULL PRIMARY KEY,
    backend_alias      varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    task_path          varchar(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    queue_name         varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    priority           smallint NOT NULL,
    `rank`             smallint NOT NULL,
    status             varchar(12) NOT NULL,
    due                smallint NULL,
    waiting_for        varchar(12) NULL,
    args               /*M! longtext */ /*!80000 json */ NOT NULL /*M! CHECK (
        JSON_VALID(args) OR LENGTH(args) - LENGTH(REPLACE(REPLACE(args, '[', ''), '{', '')) > 31) */,
    kwargs             /*M! longtext */ /*!80000 json */ NOT NULL /*M! CHECK (
        JSON_VALID(kwargs) OR LENGTH(kwargs) - LENGTH(REPLACE(REPLACE(kwargs, '[', ''), '{', '')) > 31) */,
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
    return_value       /*M! longtext */ /*!80000 json */ NULL /*M! CHECK (
        JSON_VALID(return_value) OR LENGTH(return_value) - LENGTH(REPLACE(REPLACE(return_value, '[', ''), '{', '')) > 31) */,
    progress           json NULL,
    cancel_requested   bool NOT NULL,
    unique_key         varchar(64) NULL,
    reruns             bool NOT NULL,
    recheck            smallint NULL,
    lock_key           varchar(64) NULL,
    lock_limit         integer NULL,
    lock_conflict      varchar(8) NULL,
    limit_keys         varchar(255) CHARACTER SET ascii COLLATE ascii_bin NULL,
    ready_lane         smallint GENERATED ALWAYS AS (
        CASE WHEN due = 1 THEN IF(limit_keys IS NOT NULL, 3, IF(lock_key IS NULL, 1, 2)) END) VIRTUAL,
    limit_lane         varchar(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */
        GENERATED ALWAYS AS (CASE WHEN due = 1 AND limit_keys IS NOT NULL THEN task_path END) VIRTUAL,
    deferred_until     datetime(6) GENERATED ALWAYS AS (CASE WHEN due = 0 THEN available_at END) VIRTUAL,
    lock_state         varchar(65) GENERATED ALWAYS AS (
        CASE WHEN waiting_for = 'lock' THEN CONCAT('w', lock_key) WHEN status = 'RUNNING' THEN CONCAT('r', lock_key)
             WHEN due = 1 AND limit_keys IS NULL THEN CONCAT('d', lock_key) END) VIRTUAL,
    lock_queue         varchar(260) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */
        GENERATED ALWAYS AS (
        CASE WHEN waiting_for = 'lock' THEN CONCAT(CHAR_LENGTH(backend_alias), ' ', backend_alias, queue_name) END) VIRTUAL,
    INDEX oxpull_task_ready (ready_lane, backend_alias, queue_name, limit_lane, limit_keys, `rank`, available_at, id),
    INDEX oxpull_task_deferred (deferred_until),
    INDEX oxpull_task_leased (leased_by, recheck),
    INDEX oxpull_task_lock (lock_state, lock_queue, `rank`, available_at, id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS oxpull_lock (
    lock_key varchar(64) NOT NULL PRIMARY KEY
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS oxpull_unique (
    unique_key   varchar(64) NOT NULL PRIMARY KEY,
    holder_id    :uuid_type NOT NULL,
    follow_up_id :uuid_type NULL,
    first_at     datetime(6) NOT NULL,
    expires_at   datetime(6) NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS oxpull_worker (
    id               :uuid_type NOT NULL PRIMARY KEY,
    backend_alias    varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
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
    backend_alias varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    queue_name    varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    paused        bool NOT NULL,
    changed_at    datetime(6) NOT NULL,
    PRIMARY KEY (backend_alias, queue_name)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS oxpull_meta (
    name  varchar(64) NOT NULL PRIMARY KEY,
    value varchar(255) NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
INSERT IGNORE INTO oxpull_meta (name, value) VALUES ('installation', UUID());
