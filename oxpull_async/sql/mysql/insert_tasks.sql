-- insert_tasks: store new tasks at this instant, given as a JSON list of rows and one of kinds, which hold what rows
-- have in common.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, `rank`, status, due, waiting_for, args, kwargs, run_after,
    available_at, enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors,
    cancel_requested, unique_key, reruns, lock_key, lock_limit, lock_conflict, batch_id,
    workflow_id, limit_keys)
SELECT
    n.id, k.backend_alias, k.task_path, k.queue_name, k.priority, 0 - k.priority,
    IF(n.waiting_for IS NULL, 'READY', 'WAITING'),
    CASE WHEN n.waiting_for IS NOT NULL THEN NULL WHEN k.run_after > :now THEN 0 ELSE 1 END,
    n.waiting_for, n.args, COALESCE(n.kwargs, '{}'), k.run_after,
    COALESCE(k.run_after, CAST(:enqueued_at AS DATETIME(6))), CAST(:enqueued_at AS DATETIME(6)),
    0, k.max_attempts, 0, false, 0, 0, k.timeout, '[]', '[]', false, n.unique_key, COALESCE(k.reruns, false),
    n.lock_key, k.lock_limit, k.lock_conflict, n.batch_id, n.workflow_id, n.limit_keys
FROM JSON_TABLE(:tasks, '$[*]' COLUMNS (
    id CHAR(32) CHARACTER SET utf8mb4 PATH '$.id' ERROR ON ERROR,
    kind INT PATH '$.kind' ERROR ON ERROR,
    args LONGTEXT CHARACTER SET utf8mb4 PATH '$.args' ERROR ON ERROR,
    kwargs LONGTEXT CHARACTER SET utf8mb4 PATH '$.kwargs' ERROR ON ERROR,
    unique_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$.unique_key' ERROR ON ERROR,
    waiting_for VARCHAR(12) CHARACTER SET utf8mb4 PATH '$.waiting_for' ERROR ON ERROR,
    lock_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$.lock_key' ERROR ON ERROR,
    limit_keys VARCHAR(255) CHARACTER SET utf8mb4 PATH '$.limit_keys' ERROR ON ERROR,
    batch_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.batch_id' ERROR ON ERROR,
    workflow_id CHAR(32) CHARACTER SET utf8mb4 PATH '$.workflow_id' ERROR ON ERROR)) AS n
JOIN JSON_TABLE(:kinds, '$[*]' COLUMNS (
    kind INT PATH '$.kind' ERROR ON ERROR,
    backend_alias VARCHAR(128) CHARACTER SET utf8mb4 PATH '$.backend_alias' ERROR ON ERROR,
    task_path VARCHAR(255) CHARACTER SET utf8mb4 PATH '$.task_path' ERROR ON ERROR,
    queue_name VARCHAR(128) CHARACTER SET utf8mb4 PATH '$.queue_name' ERROR ON ERROR,
    priority INT PATH '$.priority' ERROR ON ERROR,
    run_after DATETIME(6) PATH '$.run_after' ERROR ON ERROR,
    max_attempts INT PATH '$.max_attempts' ERROR ON ERROR,
    timeout DOUBLE PATH '$.timeout' ERROR ON ERROR,
    reruns INT PATH '$.reruns' ERROR ON ERROR,
    lock_limit INT PATH '$.lock_limit' ERROR ON ERROR,
    lock_conflict VARCHAR(8) CHARACTER SET utf8mb4 PATH '$.lock_conflict' ERROR ON ERROR)) AS k ON k.kind = n.kind
