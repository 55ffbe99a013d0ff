-- take_over_key: take a key from a holder whose time is over, and store the task that holds it now, in one transaction.
-- Writes nothing, and returns no row, unless the lock row still names that holder, and it still has the status in which
-- it was seen.
UPDATE oxpull_unique AS u INDEXED BY sqlite_autoindex_oxpull_unique_1
   SET holder_id = :id, first_at = :now,
       expires_at = strftime('%Y-%m-%d %H:%M:%f', :now, :ttl || ' seconds') || '000'
 WHERE u.unique_key = :unique_key AND u.holder_id = :old_id AND u.follow_up_id IS NULL
   AND EXISTS (SELECT 1 FROM oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
                WHERE t.id = :old_id AND t.status = :old_status)
-- then: store the task if the key is its own; not once more if that has happened already.
INSERT INTO oxpull_task (
    id, backend_alias, task_path, queue_name, priority, "rank", status, due, args, kwargs, run_after, available_at,
    enqueued_at, attempts, max_attempts, epoch, begun, refunds, snoozes, timeout, worker_ids, errors, cancel_requested,
    unique_key, reruns, lock_key, lock_limit, lock_conflict, batch_id,
    workflow_id, limit_keys)
SELECT
    :id, :backend_alias, :task_path, :queue_name, :priority, -:priority, 'READY',
    CASE WHEN n.run_after > :now THEN 0 ELSE 1 END, :args, :kwargs, n.run_after,
    CASE WHEN :delay IS NULL THEN COALESCE(n.run_after, :now) ELSE n.run_after END, :now,
    0, :max_attempts, 0, false, 0, 0, :timeout, '[]', '[]', false, u.unique_key, :reruns,
    :lock_key, :lock_limit, :lock_conflict, :batch_id, :workflow_id, :limit_keys
  FROM oxpull_unique AS u INDEXED BY sqlite_autoindex_oxpull_unique_1
 CROSS JOIN (SELECT CASE WHEN :delay IS NULL THEN :run_after
                         ELSE strftime('%Y-%m-%d %H:%M:%f', :now, :delay || ' seconds') || '000' END AS run_after) AS n
 WHERE u.unique_key = :unique_key AND u.holder_id = :id
ON CONFLICT (id) DO NOTHING
RETURNING enqueued_at, available_at
