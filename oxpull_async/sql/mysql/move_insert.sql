-- move_insert: store moved tasks given as one JSON list, with all that has happened to them.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, `rank`, status, due, args, kwargs, run_after, available_at,
    enqueued_at, started_at, last_attempted_at, finished_at, attempts, max_attempts, epoch, begun, refunds, snoozes,
    timeout, worker_ids, errors, return_value, cancel_requested, unique_key, reruns, lock_key, lock_limit,
    lock_conflict)
SELECT
    n.id, n.backend_alias, n.task_path, n.queue_name, n.priority, 0 - n.priority, n.status,
    CASE WHEN n.status <> 'READY' THEN NULL WHEN n.run_after > :now THEN 0 ELSE 1 END,
    n.args, n.kwargs, n.run_after, COALESCE(n.run_after, n.enqueued_at), n.enqueued_at, n.started_at,
    n.last_attempted_at, n.finished_at, n.attempts, n.max_attempts, n.epoch, false, 0, 0, n.timeout, n.worker_ids,
    n.errors, n.return_value, false, n.unique_key, n.reruns, n.lock_key, n.lock_limit, n.lock_conflict
FROM JSON_TABLE(:tasks, '$[*]' COLUMNS (
    id CHAR(32) CHARACTER SET utf8mb4 PATH '$.id' ERROR ON ERROR,
    backend_alias VARCHAR(128) CHARACTER SET utf8mb4 PATH '$.backend_alias' ERROR ON ERROR,
    task_path VARCHAR(255) CHARACTER SET utf8mb4 PATH '$.task_path' ERROR ON ERROR,
    queue_name VARCHAR(128) CHARACTER SET utf8mb4 PATH '$.queue_name' ERROR ON ERROR,
    priority INT PATH '$.priority' ERROR ON ERROR,
    status VARCHAR(12) CHARACTER SET utf8mb4 PATH '$.status' ERROR ON ERROR,
    args LONGTEXT CHARACTER SET utf8mb4 PATH '$.args' ERROR ON ERROR,
    kwargs LONGTEXT CHARACTER SET utf8mb4 PATH '$.kwargs' ERROR ON ERROR,
    run_after DATETIME(6) PATH '$.run_after' ERROR ON ERROR,
    enqueued_at DATETIME(6) PATH '$.enqueued_at' ERROR ON ERROR,
    started_at DATETIME(6) PATH '$.started_at' ERROR ON ERROR,
    last_attempted_at DATETIME(6) PATH '$.last_attempted_at' ERROR ON ERROR,
    finished_at DATETIME(6) PATH '$.finished_at' ERROR ON ERROR,
    attempts INT PATH '$.attempts' ERROR ON ERROR,
    max_attempts INT PATH '$.max_attempts' ERROR ON ERROR,
    epoch BIGINT PATH '$.epoch' ERROR ON ERROR,
    timeout DOUBLE PATH '$.timeout' ERROR ON ERROR,
    worker_ids LONGTEXT CHARACTER SET utf8mb4 PATH '$.worker_ids' ERROR ON ERROR,
    errors LONGTEXT CHARACTER SET utf8mb4 PATH '$.errors' ERROR ON ERROR,
    return_value LONGTEXT CHARACTER SET utf8mb4 PATH '$.return_value' ERROR ON ERROR,
    unique_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$.unique_key' ERROR ON ERROR,
    reruns INT PATH '$.reruns' ERROR ON ERROR,
    lock_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$.lock_key' ERROR ON ERROR,
    lock_limit INT PATH '$.lock_limit' ERROR ON ERROR,
    lock_conflict VARCHAR(8) CHARACTER SET utf8mb4 PATH '$.lock_conflict' ERROR ON ERROR)) AS n
