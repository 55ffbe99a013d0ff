-- insert_tasks: store new tasks given as one JSON list; returns each row's id, enqueued_at and available_at.
-- args and kwargs come as text inside the list and stay as they are: SQLite's JSON would round numbers.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, "rank", status, due, args, kwargs, run_after, available_at,
    enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors, cancel_requested)
SELECT
    json_extract(n.value, '$.id'), json_extract(n.value, '$.backend_alias'), json_extract(n.value, '$.task_path'),
    json_extract(n.value, '$.queue_name'), json_extract(n.value, '$.priority'), -json_extract(n.value, '$.priority'),
    'READY', CASE WHEN json_extract(n.value, '$.run_after') > :now THEN 0 ELSE 1 END,
    json_extract(n.value, '$.args'), json_extract(n.value, '$.kwargs'), json_extract(n.value, '$.run_after'),
    COALESCE(json_extract(n.value, '$.run_after'), :now), :now,
    0, json_extract(n.value, '$.max_attempts'), 0, false, 0, 0, json_extract(n.value, '$.timeout'), '[]', '[]', false
  FROM json_each(:tasks) AS n
 WHERE true
RETURNING id, enqueued_at, available_at
