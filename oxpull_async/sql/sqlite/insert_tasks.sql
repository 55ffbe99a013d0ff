-- insert_tasks: store new tasks given as one JSON list; returns each row's id, enqueued_at and available_at.
-- args and kwargs come as text inside the list and stay as they are: SQLite's JSON would round numbers.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, "rank", status, due, waiting_for, args, kwargs, run_after,
    available_at, enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors,
    cancel_requested, unique_key, reruns, lock_key, lock_limit, lock_conflict, batch_id,
    workflow_id, limit_keys)
SELECT
    json_extract(n.value, '$.id'), json_extract(n.value, '$.backend_alias'), json_extract(n.value, '$.task_path'),
    json_extract(n.value, '$.queue_name'), json_extract(n.value, '$.priority'), -json_extract(n.value, '$.priority'),
    CASE WHEN n.waiting_for IS NULL THEN 'READY' ELSE 'WAITING' END,
    CASE WHEN n.waiting_for IS NOT NULL THEN NULL WHEN n.run_after > :now THEN 0 ELSE 1 END,
    n.waiting_for, json_extract(n.value, '$.args'), json_extract(n.value, '$.kwargs'), n.run_after,
    CASE WHEN n.delay IS NULL THEN COALESCE(n.run_after, :now) ELSE n.run_after END, :now,
    0, json_extract(n.value, '$.max_attempts'), 0, false, 0, 0, json_extract(n.value, '$.timeout'), '[]', '[]', false,
    json_extract(n.value, '$.unique_key'), json_extract(n.value, '$.reruns'), json_extract(n.value, '$.lock_key'),
    json_extract(n.value, '$.lock_limit'), json_extract(n.value, '$.lock_conflict'),
    json_extract(n.value, '$.batch_id'), json_extract(n.value, '$.workflow_id'), json_extract(n.value, '$.limit_keys')
  FROM (SELECT j.value, json_extract(j.value, '$.waiting_for') AS waiting_for, json_extract(j.value, '$.delay') AS delay,
               CASE WHEN json_extract(j.value, '$.delay') IS NULL THEN json_extract(j.value, '$.run_after')
                    ELSE strftime('%Y-%m-%d %H:%M:%f', :now, json_extract(j.value, '$.delay') || ' seconds') || '000'
                     END AS run_after
          FROM json_each(:tasks) AS j) AS n
 WHERE true
RETURNING id, enqueued_at, available_at
