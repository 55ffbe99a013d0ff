-- insert_tasks: store new tasks given as a JSON list of rows and one of kinds, which hold what rows have in common.
-- args and kwargs come as text inside the list and stay as they are: SQLite's JSON would round numbers.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, "rank", status, due, waiting_for, args, kwargs, run_after,
    available_at, enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors,
    cancel_requested, unique_key, reruns, lock_key, lock_limit, lock_conflict, batch_id,
    workflow_id, limit_keys)
WITH kind AS MATERIALIZED (
    SELECT json_extract(j.value, '$.kind') AS kind, json_extract(j.value, '$.backend_alias') AS backend_alias,
           json_extract(j.value, '$.task_path') AS task_path, json_extract(j.value, '$.queue_name') AS queue_name,
           json_extract(j.value, '$.priority') AS priority, json_extract(j.value, '$.max_attempts') AS max_attempts,
           json_extract(j.value, '$.timeout') AS timeout, json_extract(j.value, '$.delay') AS delay,
           COALESCE(json_extract(j.value, '$.reruns'), false) AS reruns,
           json_extract(j.value, '$.lock_limit') AS lock_limit,
           json_extract(j.value, '$.lock_conflict') AS lock_conflict,
           CASE WHEN json_extract(j.value, '$.delay') IS NULL THEN json_extract(j.value, '$.run_after')
                ELSE strftime('%Y-%m-%d %H:%M:%f', :now, json_extract(j.value, '$.delay') || ' seconds') || '000'
                 END AS starts_at
      FROM json_each(:kinds) AS j
)
SELECT
    json_extract(n.value, '$.id'), kind.backend_alias, kind.task_path, kind.queue_name, kind.priority, -kind.priority,
    CASE WHEN json_extract(n.value, '$.waiting_for') IS NULL THEN 'READY' ELSE 'WAITING' END,
    CASE WHEN json_extract(n.value, '$.waiting_for') IS NOT NULL THEN NULL WHEN kind.starts_at > :now THEN 0 ELSE 1 END,
    json_extract(n.value, '$.waiting_for'), json_extract(n.value, '$.args'),
    COALESCE(json_extract(n.value, '$.kwargs'), '{}'), kind.starts_at,
    CASE WHEN kind.delay IS NULL THEN COALESCE(kind.starts_at, :now) ELSE kind.starts_at END, :now,
    0, kind.max_attempts, 0, false, 0, 0, kind.timeout, '[]', '[]', false,
    json_extract(n.value, '$.unique_key'), kind.reruns, json_extract(n.value, '$.lock_key'), kind.lock_limit,
    kind.lock_conflict, json_extract(n.value, '$.batch_id'), json_extract(n.value, '$.workflow_id'),
    json_extract(n.value, '$.limit_keys')
  FROM json_each(:tasks) AS n CROSS JOIN kind ON kind.kind = json_extract(n.value, '$.kind')
 WHERE true
-- then: return each kind with the enqueued_at and available_at of its rows.
SELECT json_extract(j.value, '$.kind'), t.enqueued_at, t.available_at
  FROM json_each(:kinds) AS j CROSS JOIN oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
    ON t.id = json_extract(j.value, '$.first')
