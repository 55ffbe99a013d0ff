-- find_holder: the record that the lock row of this key names as its holder, in the order of `domain.record.TaskRecord`
-- (NULL where it is gone), then the lock row as `find_holders` gives it; nothing where the key has none.
-- /*M! is read by MariaDB only, /*!8 by MySQL only: each has its own name for the level.
SELECT t.id, t.backend_alias, t.task_path, t.queue_name, t.priority, t.status, t.waiting_for, t.args,
       t.kwargs, t.run_after, t.available_at, t.enqueued_at, t.started_at, t.last_attempted_at, t.finished_at,
       t.attempts, t.max_attempts, t.epoch, t.timeout, t.leased_by, t.worker_ids, t.errors,
       t.return_value, t.progress, t.cancel_requested,
       u.unique_key, u.holder_id, u.follow_up_id, u.expires_at <= :now,
       LOWER(REPLACE(/*M! @@tx_isolation */ /*!80000 @@transaction_isolation */, '-', ' '))
  FROM oxpull_unique AS u FORCE INDEX (PRIMARY)
  LEFT JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = u.holder_id
 WHERE u.unique_key = :unique_key
