-- test_columns: what a new task's row holds beside its id and its instants.
SELECT
    backend_alias, task_path, queue_name, priority, "rank", status, due, waiting_for, args::text, kwargs::text, attempts,
    max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids::text, errors::text, cancel_requested, unique_key, reruns,
    lock_key, lock_limit, lock_conflict, batch_id, workflow_id, limit_keys
  FROM oxpull_task WHERE id = :id::text::uuid
