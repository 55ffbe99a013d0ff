-- 0001: tasks, workers, queues. Statements end with a semicolon at the end of a line.
CREATE TABLE oxpull_task (
    id                 :uuid_type NOT NULL PRIMARY KEY,
    backend_alias      varchar(128) NOT NULL,
    task_path          varchar(255) NOT NULL,
    queue_name         varchar(128) NOT NULL,
    priority           smallint NOT NULL,
    "rank"             smallint NOT NULL,
    status             varchar(12) NOT NULL,
    due                smallint NULL,
    waiting_for        varchar(12) NULL,
    args               text NOT NULL CHECK (json_valid(args)),
    kwargs             text NOT NULL CHECK (json_valid(kwargs)),
    run_after          datetime NULL,
    available_at       datetime NOT NULL,
    enqueued_at        datetime NOT NULL,
    started_at         datetime NULL,
    last_attempted_at  datetime NULL,
    prior_attempted_at datetime NULL,
    finished_at        datetime NULL,
    attempts           integer NOT NULL,
    max_attempts       integer NOT NULL,
    epoch              bigint NOT NULL,
    begun              bool NOT NULL,
    refunds            smallint NOT NULL,
    snoozes            smallint NOT NULL,
    timeout            real NULL,
    leased_by          :uuid_type NULL,
    worker_ids         text NOT NULL CHECK (json_valid(worker_ids)),
    errors             text NOT NULL CHECK (json_valid(errors)),
    return_value       text NULL CHECK (json_valid(return_value) OR return_value IS NULL),
    progress           text NULL CHECK (json_valid(progress) OR progress IS NULL),
    cancel_requested   bool NOT NULL,
    unique_key         varchar(64) NULL,
    reruns             bool NOT NULL,
    recheck            smallint NULL,
    lock_key           varchar(64) NULL,
    lock_limit         integer NULL,
    lock_conflict      varchar(8) NULL,
    limit_keys         varchar(255) NULL
);
CREATE INDEX oxpull_task_ready ON oxpull_task (backend_alias, queue_name, "rank", available_at, id)
 WHERE due = 1 AND lock_key IS NULL AND limit_keys IS NULL;
CREATE INDEX oxpull_task_ready_locked ON oxpull_task (backend_alias, queue_name, "rank", available_at, id)
 WHERE due = 1 AND lock_key IS NOT NULL AND limit_keys IS NULL;
CREATE INDEX oxpull_task_limited
    ON oxpull_task (backend_alias, queue_name, task_path, limit_keys, "rank", available_at, id)
 WHERE due = 1 AND limit_keys IS NOT NULL;
CREATE INDEX oxpull_task_deferred ON oxpull_task (available_at) WHERE due = 0;
CREATE INDEX oxpull_task_leased ON oxpull_task (leased_by) WHERE leased_by IS NOT NULL;
CREATE INDEX oxpull_task_recheck ON oxpull_task (id) WHERE recheck = 1;
CREATE INDEX oxpull_task_lock_ready ON oxpull_task (lock_key, "rank", available_at, id)
 WHERE lock_key IS NOT NULL AND limit_keys IS NULL AND due = 1;
CREATE INDEX oxpull_task_lock_waiting ON oxpull_task (lock_key, backend_alias, queue_name, "rank", available_at, id)
 WHERE waiting_for = 'lock';
CREATE INDEX oxpull_task_lock_running ON oxpull_task (lock_key) WHERE lock_key IS NOT NULL AND leased_by IS NOT NULL;
CREATE TABLE oxpull_lock (
    lock_key varchar(64) NOT NULL PRIMARY KEY
);
CREATE TABLE oxpull_unique (
    unique_key   varchar(64) NOT NULL PRIMARY KEY,
    holder_id    :uuid_type NOT NULL,
    follow_up_id :uuid_type NULL,
    first_at     datetime NOT NULL,
    expires_at   datetime NULL
);
CREATE TABLE oxpull_worker (
    id               :uuid_type NOT NULL PRIMARY KEY,
    backend_alias    varchar(128) NOT NULL,
    hostname         varchar(255) NOT NULL,
    pid              integer NOT NULL,
    queues           text NULL CHECK (json_valid(queues) OR queues IS NULL),
    concurrency      integer NOT NULL,
    started_at       datetime NOT NULL,
    renewed_at       datetime NOT NULL,
    lease_expires_at datetime NOT NULL,
    dead             bool NOT NULL,
    notes            text NOT NULL CHECK (json_valid(notes))
);
CREATE TABLE oxpull_queue (
    backend_alias varchar(128) NOT NULL,
    queue_name    varchar(128) NOT NULL,
    paused        bool NOT NULL,
    changed_at    datetime NOT NULL,
    PRIMARY KEY (backend_alias, queue_name)
);
CREATE TABLE oxpull_meta (
    name  varchar(64) NOT NULL PRIMARY KEY,
    value varchar(255) NOT NULL
);
INSERT INTO oxpull_meta (name, value) VALUES ('installation', lower(hex(randomblob(16)))) ON CONFLICT DO NOTHING;
