-- 0002: batches. Statements end with a semicolon at the end of a line.
-- A task's batch is the first that it was added to, or the one whose callback it is; the member rows say all of them.
-- MySQL cannot add a column only where it is missing, so that one step is chosen by what is there.
SET @oxpull_step = IF(
    (SELECT COUNT(*) FROM information_schema.columns
      WHERE table_schema = DATABASE() AND table_name = 'oxpull_task' AND column_name = 'batch_id') = 0,
    'ALTER TABLE oxpull_task ADD COLUMN batch_id :uuid_type NULL', 'DO 0');
PREPARE oxpull_step FROM @oxpull_step;
EXECUTE oxpull_step;
DEALLOCATE PREPARE oxpull_step;
CREATE TABLE IF NOT EXISTS oxpull_batch (
    id            :uuid_type NOT NULL PRIMARY KEY,
    backend_alias varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    name          varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    members       integer NOT NULL,
    callbacks     json NOT NULL,
    created_at    datetime(6) NOT NULL,
    expires_at    datetime(6) NULL,
    sealed_at     datetime(6) NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS oxpull_batch_counts (
    batch_id     :uuid_type NOT NULL PRIMARY KEY,
    status       varchar(8) NOT NULL,
    total        integer NULL,
    succeeded    integer NOT NULL,
    failed       integer NOT NULL,
    unattributed integer NOT NULL,
    cancelled    bool NOT NULL,
    completed_at datetime(6) NULL,
    INDEX oxpull_batch_counts_open (status)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS oxpull_batch_member (
    task_id  :uuid_type NOT NULL,
    batch_id :uuid_type NOT NULL,
    counted  varchar(12) NULL,
    recheck  smallint NULL,
    PRIMARY KEY (task_id, batch_id),
    INDEX oxpull_batch_member_batch (batch_id, task_id),
    INDEX oxpull_batch_member_recheck (recheck)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
