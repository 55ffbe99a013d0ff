-- claimed_tasks: the rows that `claim` has just leased to this worker, as `ClaimedTask` reads them.
SELECT t.id, t.epoch, t.task_path, t.queue_name, t.priority, t.available_at, t.args, t.kwargs,
       t.attempts, t.max_attempts, t.snoozes, t.timeout, t.begun, IF(t.reruns, t.unique_key, NULL),
       t.lock_key, t.batch_id, t.workflow_id, t.limit_keys
  FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = j.id
 WHERE t.status = 'RUNNING' AND t.leased_by = :worker_id
