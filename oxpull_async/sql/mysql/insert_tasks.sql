-- insert_tasks: store new tasks given as one JSON list.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, `rank`, status, due, args, kwargs, run_after, available_at,
    enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors, cancel_requested)
SELECT
    n.id, n.backend_alias, n.task_path, n.queue_name, n.priority, 0 - n.priority, 'READY',
    IF(n.run_after > :now, 0, 1), n.args, n.kwargs, n.run_after, COALESCE(n.run_after, :now), :now,
    0, n.max_attempts, 0, false, 0, 0, n.timeout, '[]', '[]', false
FROM JSON_TABLE(:tasks, '$[*]' COLUMNS (
    id CHAR(32) CHARACTER SET utf8mb4 PATH '$.id' ERROR ON ERROR,
    backend_alias VARCHAR(128) CHARACTER SET utf8mb4 PATH '$.backend_alias' ERROR ON ERROR,
    task_path VARCHAR(255) CHARACTER SET utf8mb4 PATH '$.task_path' ERROR ON ERROR,
    queue_name VARCHAR(128) CHARACTER SET utf8mb4 PATH '$.queue_name' ERROR ON ERROR,
    priority INT PATH '$.priority' ERROR ON ERROR,
    args LONGTEXT CHARACTER SET utf8mb4 PATH '$.args' ERROR ON ERROR,
    kwargs LONGTEXT CHARACTER SET utf8mb4 PATH '$.kwargs' ERROR ON ERROR,
    run_after DATETIME(6) PATH '$.run_after' ERROR ON ERROR,
    max_attempts INT PATH '$.max_attempts' ERROR ON ERROR,
    timeout DOUBLE PATH '$.timeout' ERROR ON ERROR)) AS n
