-- 0003: schedules and their ticks. A tick that came while the task of the one before had not ended may have no task.
CREATE TABLE IF NOT EXISTS oxpull_schedule (
    id            :uuid_type NOT NULL PRIMARY KEY,
    backend_alias varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    name          varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    declared      bool NOT NULL,
    cron          varchar(128) NULL,
    every         double precision NULL,
    phase         double precision NOT NULL,
    tz            varchar(64) NOT NULL,
    repeated_hour varchar(8) NOT NULL,
    catch_up      varchar(8) NOT NULL,
    max_age       double precision NULL,
    overlap       varchar(8) NOT NULL,
    task_path     varchar(255) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    args          /*M! longtext */ /*!80000 json */ NOT NULL /*M! CHECK (
        JSON_VALID(args) OR LENGTH(args) - LENGTH(REPLACE(REPLACE(args, '[', ''), '{', '')) > 31) */,
    kwargs        /*M! longtext */ /*!80000 json */ NOT NULL /*M! CHECK (
        JSON_VALID(kwargs) OR LENGTH(kwargs) - LENGTH(REPLACE(REPLACE(kwargs, '[', ''), '{', '')) > 31) */,
    queue_name    varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NULL,
    priority      smallint NULL,
    paused        bool NOT NULL,
    starts_at     datetime(6) NOT NULL,
    ends_at       datetime(6) NULL,
    last_tick_at  datetime(6) NULL,
    next_at       datetime(6) NULL,
    last_task_id  :uuid_type NULL,
    version       bigint NOT NULL,
    created_at    datetime(6) NOT NULL,
    changed_at    datetime(6) NOT NULL,
    UNIQUE INDEX oxpull_schedule_name (backend_alias, name)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS oxpull_tick (
    backend_alias varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    name          varchar(128) /*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */ NOT NULL,
    tick_at       datetime(6) NOT NULL,
    task_id       :uuid_type NULL,
    created_at    datetime(6) NOT NULL,
    PRIMARY KEY (backend_alias, name, tick_at),
    INDEX oxpull_tick_age (created_at)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
