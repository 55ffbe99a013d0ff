-- 0004: workflows. Statements end with a semicolon at the end of a line.
-- What `add` and `seal` lock is oxpull_workflow, what settles update is oxpull_workflow_counts. A node's `unmet` is the
-- number of its edges that are not `met`; an edge that is `failed` dooms the node behind it.
ALTER TABLE oxpull_task ADD COLUMN workflow_id :uuid_type NULL;
CREATE TABLE oxpull_workflow (
    id            :uuid_type NOT NULL PRIMARY KEY,
    backend_alias varchar(128) NOT NULL,
    name          varchar(128) NOT NULL,
    nodes         integer NOT NULL,
    callbacks     text NOT NULL CHECK (json_valid(callbacks)),
    created_at    datetime NOT NULL,
    expires_at    datetime NULL,
    sealed_at     datetime NULL
);
CREATE TABLE oxpull_workflow_counts (
    workflow_id  :uuid_type NOT NULL PRIMARY KEY,
    status       varchar(8) NOT NULL,
    total        integer NULL,
    succeeded    integer NOT NULL,
    failed       integer NOT NULL,
    unattributed integer NOT NULL,
    cancelled    bool NOT NULL,
    completed_at datetime NULL,
    unique_key   varchar(64) NULL
);
CREATE INDEX oxpull_workflow_counts_open ON oxpull_workflow_counts (workflow_id) WHERE status <> 'COMPLETE';
CREATE UNIQUE INDEX oxpull_workflow_counts_key ON oxpull_workflow_counts (unique_key) WHERE unique_key IS NOT NULL;
CREATE TABLE oxpull_workflow_node (
    task_id     :uuid_type NOT NULL PRIMARY KEY,
    workflow_id :uuid_type NOT NULL,
    name        varchar(128) NOT NULL,
    unmet       integer NOT NULL,
    counted     varchar(12) NULL,
    cascaded    bool NOT NULL,
    recheck     smallint NULL
);
CREATE UNIQUE INDEX oxpull_workflow_node_name ON oxpull_workflow_node (workflow_id, name);
CREATE INDEX oxpull_workflow_node_recheck ON oxpull_workflow_node (task_id) WHERE recheck = 1;
CREATE TABLE oxpull_workflow_edge (
    upstream_id   :uuid_type NOT NULL,
    downstream_id :uuid_type NOT NULL,
    on_failure    varchar(8) NOT NULL,
    state         varchar(8) NULL,
    PRIMARY KEY (upstream_id, downstream_id)
);
CREATE INDEX oxpull_workflow_edge_downstream ON oxpull_workflow_edge (downstream_id, upstream_id);
