-- move_insert: store moved tasks given as one JSON list, with all that has happened to them.
-- JSON columns come as text inside the list and stay as they are: SQLite's JSON would round numbers.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, "rank", status, due, args, kwargs, run_after, available_at,
    enqueued_at, started_at, last_attempted_at, finished_at, attempts, max_attempts, epoch, begun, refunds, snoozes,
    timeout, worker_ids, errors, return_value, cancel_requested, unique_key, reruns, lock_key, lock_limit,
    lock_conflict, waiting_for, batch_id, workflow_id, limit_keys)
SELECT
    json_extract(n.value, '$.id'), json_extract(n.value, '$.backend_alias'), json_extract(n.value, '$.task_path'),
    json_extract(n.value, '$.queue_name'), n.priority, -n.priority, n.status,
    CASE WHEN n.status <> 'READY' THEN NULL WHEN n.run_after > :now THEN 0 ELSE 1 END,
    json_extract(n.value, '$.args'), json_extract(n.value, '$.kwargs'), n.run_after, COALESCE(n.run_after, n.enqueued_at),
    n.enqueued_at, json_extract(n.value, '$.started_at'), json_extract(n.value, '$.last_attempted_at'),
    json_extract(n.value, '$.finished_at'), json_extract(n.value, '$.attempts'), json_extract(n.value, '$.max_attempts'),
    json_extract(n.value, '$.epoch'), false, 0, 0, json_extract(n.value, '$.timeout'), json_extract(n.value, '$.worker_ids'),
    json_extract(n.value, '$.errors'), json_extract(n.value, '$.return_value'), false, json_extract(n.value, '$.unique_key'),
    json_extract(n.value, '$.reruns'), json_extract(n.value, '$.lock_key'), json_extract(n.value, '$.lock_limit'),
    json_extract(n.value, '$.lock_conflict'), json_extract(n.value, '$.waiting_for'), json_extract(n.value, '$.batch_id'),
    json_extract(n.value, '$.workflow_id'), json_extract(n.value, '$.limit_keys')
  FROM (SELECT j.value, json_extract(j.value, '$.status') AS status, json_extract(j.value, '$.priority') AS priority,
               json_extract(j.value, '$.run_after') AS run_after, json_extract(j.value, '$.enqueued_at') AS enqueued_at
          FROM json_each(:tasks) AS j) AS n
