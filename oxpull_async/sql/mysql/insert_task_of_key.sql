-- insert_task_of_key: store a task at this instant whose key it has just taken; matches nothing where another holds it.
-- The count of an INSERT is the same on every connection, whether it asks for rows matched or changed.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, `rank`, status, due, args, kwargs, run_after, available_at,
    enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors, cancel_requested,
    unique_key, reruns, lock_key, lock_limit, lock_conflict, batch_id,
    workflow_id, limit_keys)
SELECT
    :id, :backend_alias, :task_path, :queue_name, :priority, 0 - :priority, 'READY',
    IF(CAST(:run_after AS DATETIME(6)) > :now, 0, 1), :args, :kwargs, :run_after,
    COALESCE(CAST(:run_after AS DATETIME(6)), CAST(:enqueued_at AS DATETIME(6))), :enqueued_at,
    0, :max_attempts, 0, false, 0, 0, :timeout, '[]', '[]', false, u.unique_key, :reruns,
    :lock_key, :lock_limit, :lock_conflict, :batch_id, :workflow_id, :limit_keys
FROM oxpull_unique AS u FORCE INDEX (PRIMARY) WHERE u.unique_key = :unique_key AND u.holder_id = :id
