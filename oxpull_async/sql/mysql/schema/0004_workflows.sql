-- 0004: workflows. Statements end with a semicolon at the end of a line.
-- What `add` and `seal` lock is oxpull_workflow, what settles update is oxpull_workflow_counts. A node's `unmet` is the
-- number of its edges that are not `met`; an edge that is `failed` dooms the node behind it.
SET @oxpull_step = IF(
    (SELECT COUNT(*) FROM information_schema.columns
      WHERE table_schema = DATABASE() AND table_name = 'oxpull_task' AND column_name = 'workflow_id') = 0,
    'ALTER TABLE oxpull_task ADD COLUMN workflow_id :uuid_type NULL', 'DO 0');
PREPARE oxpull_step FROM @oxpull_step;
EXECUTE oxpull_step;
DEALLOCATE PREPARE oxpull_step;
CREATE TABLE IF NOT EXISTS oxpull_workflow (
    id            :uuid_type NOT NULL PRIMARY KEY,
    backend_alias varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    name          varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    nodes         integer NOT NULL,
    callbacks     json NOT NULL,
    created_at    datetime(6) NOT NULL,
    expires_at    datetime(6) NULL,
    sealed_at     datetime(6) NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS oxpull_workflow_counts (
    workflow_id  :uuid_type NOT NULL PRIMARY KEY,
    status       varchar(8) NOT NULL,
    total        integer NULL,
    succeeded    integer NOT NULL,
    failed       integer NOT NULL,
    unattributed integer NOT NULL,
    cancelled    bool NOT NULL,
    completed_at datetime(6) NULL,
    unique_key   varchar(64) NULL,
    INDEX oxpull_workflow_counts_open (status),
    UNIQUE INDEX oxpull_workflow_counts_key (unique_key)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS oxpull_workflow_node (
    task_id     :uuid_type NOT NULL PRIMARY KEY,
    workflow_id :uuid_type NOT NULL,
    name        varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    unmet       integer NOT NULL,
    counted     varchar(12) NULL,
    cascaded    bool NOT NULL,
    recheck     smallint NULL,
    UNIQUE INDEX oxpull_workflow_node_name (workflow_id, name),
    INDEX oxpull_workflow_node_recheck (recheck)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS oxpull_workflow_edge (
    upstream_id   :uuid_type NOT NULL,
    downstream_id :uuid_type NOT NULL,
    on_failure    varchar(8) NOT NULL,
    state         varchar(8) NULL,
    PRIMARY KEY (upstream_id, downstream_id),
    INDEX oxpull_workflow_edge_downstream (downstream_id, upstream_id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
