-- move_lock: lock those of these old rows that nobody else has locked, and return them as they are now.
-- HEX takes the collation of whatever it is compared with: that of the old tables is not ours to know.
SELECT t.id, t.backend_name, t.task_path, t.queue_name, t.priority, t.status, t.args, t.kwargs, t.run_after,
       t.enqueued_at, t.started_at, t.last_attempted_at, t.finished_at, t.attempts, t.max_attempts, t.lease_epoch,
       t.worker_ids, t.errors, t.return_value
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN django_ox_oxtask AS t FORCE INDEX (PRIMARY) ON t.id = LOWER(HEX(UNHEX(j.id)))
   FOR UPDATE SKIP LOCKED
