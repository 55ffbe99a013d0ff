-- lock_tasks: lock these rows, in the order given; returns their records as they are now, whatever the snapshot says,
-- with their running lock and whether they are due.
SELECT t.id, t.backend_alias, t.task_path, t.queue_name, t.priority, t.status, t.waiting_for, t.args,
       t.kwargs, t.run_after, t.available_at, t.enqueued_at, t.started_at, t.last_attempted_at, t.finished_at,
       t.attempts, t.max_attempts, t.epoch, t.timeout, t.leased_by, t.worker_ids, t.errors,
       t.return_value, t.progress, t.cancel_requested,
       t.lock_key, t.due = 1
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
   FOR UPDATE
