-- 0002: batches. Statements end with a semicolon at the end of a line.
-- A task's batch is the first that it was added to, or the one whose callback it is; the member rows say all of them.
ALTER TABLE oxpull_task ADD COLUMN batch_id :uuid_type NULL;
CREATE TABLE oxpull_batch (
    id            :uuid_type NOT NULL PRIMARY KEY,
    backend_alias varchar(128) NOT NULL,
    name          varchar(128) NOT NULL,
    members       integer NOT NULL,
    callbacks     text NOT NULL CHECK (json_valid(callbacks)),
    created_at    datetime NOT NULL,
    expires_at    datetime NULL,
    sealed_at     datetime NULL
);
CREATE TABLE oxpull_batch_counts (
    batch_id     :uuid_type NOT NULL PRIMARY KEY,
    status       varchar(8) NOT NULL,
    total        integer NULL,
    succeeded    integer NOT NULL,
    failed       integer NOT NULL,
    unattributed integer NOT NULL,
    cancelled    bool NOT NULL,
    completed_at datetime NULL
);
CREATE INDEX oxpull_batch_counts_open ON oxpull_batch_counts (batch_id) WHERE status <> 'COMPLETE';
CREATE TABLE oxpull_batch_member (
    task_id  :uuid_type NOT NULL,
    batch_id :uuid_type NOT NULL,
    counted  varchar(12) NULL,
    recheck  smallint NULL,
    PRIMARY KEY (task_id, batch_id)
);
CREATE INDEX oxpull_batch_member_batch ON oxpull_batch_member (batch_id, task_id);
CREATE INDEX oxpull_batch_member_recheck ON oxpull_batch_member (task_id) WHERE recheck = 1;
