-- 0003: schedules and their ticks. A tick that came while the task of the one before had not ended may have no task.
CREATE TABLE oxpull_schedule (
    id            :uuid_type NOT NULL PRIMARY KEY,
    backend_alias varchar(128) NOT NULL,
    name          varchar(128) NOT NULL,
    declared      bool NOT NULL,
    cron          varchar(128) NULL,
    every         real NULL,
    phase         real NOT NULL,
    tz            varchar(64) NOT NULL,
    repeated_hour varchar(8) NOT NULL,
    catch_up      varchar(8) NOT NULL,
    max_age       real NULL,
    overlap       varchar(8) NOT NULL,
    task_path     varchar(255) NOT NULL,
    args          text NOT NULL CHECK (json_valid(args)),
    kwargs        text NOT NULL CHECK (json_valid(kwargs)),
    queue_name    varchar(128) NULL,
    priority      smallint NULL,
    paused        bool NOT NULL,
    starts_at     datetime NOT NULL,
    ends_at       datetime NULL,
    last_tick_at  datetime NULL,
    next_at       datetime NULL,
    last_task_id  :uuid_type NULL,
    version       bigint NOT NULL,
    created_at    datetime NOT NULL,
    changed_at    datetime NOT NULL
);
CREATE UNIQUE INDEX oxpull_schedule_name ON oxpull_schedule (backend_alias, name);
CREATE TABLE oxpull_tick (
    backend_alias varchar(128) NOT NULL,
    name          varchar(128) NOT NULL,
    tick_at       datetime NOT NULL,
    task_id       :uuid_type NULL,
    created_at    datetime NOT NULL,
    PRIMARY KEY (backend_alias, name, tick_at)
);
CREATE INDEX oxpull_tick_age ON oxpull_tick (created_at);
