-- rewrite_holder: give the holder of a key, READY and not started, the arguments of a newer call; returns its record.
-- Matches nothing where there is more to it: a follow-up, something the holder waits for, a running lock that it may
-- leave, or an expired key. A `wait` moves run_after as `rewrite_unstarted` does.
UPDATE oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
   SET args = :args, kwargs = :kwargs, priority = :priority, "rank" = -:priority, run_after = n.run_after,
       available_at = CASE WHEN :wait IS NULL THEN COALESCE(n.run_after, t.enqueued_at) ELSE n.run_after END,
       reruns = t.reruns OR :reruns, lock_key = :lock_key, lock_limit = :lock_limit, lock_conflict = :lock_conflict,
       limit_keys = :limit_keys,
       due = CASE WHEN n.run_after > :now THEN 0 ELSE 1 END
  FROM (WITH seen AS MATERIALIZED (
            SELECT u.holder_id, strftime('%Y-%m-%d %H:%M:%f', :now, :wait || ' seconds') || '000' AS moved,
                   strftime('%Y-%m-%d %H:%M:%f', u.first_at, :max_wait || ' seconds') || '000' AS latest
              FROM oxpull_unique AS u INDEXED BY sqlite_autoindex_oxpull_unique_1
             WHERE u.unique_key = :unique_key AND u.follow_up_id IS NULL AND COALESCE(u.expires_at > :now, true)),
        held AS MATERIALIZED (
            SELECT s.holder_id, CASE WHEN :wait IS NULL THEN :run_after ELSE min(s.moved, COALESCE(s.latest, s.moved))
                                END AS run_after, 'READY' AS ready
              FROM seen AS s)
        SELECT * FROM held) AS n
 WHERE t.id = n.holder_id AND t.status = n.ready AND t.attempts = 0 AND t.lock_key IS NULL
RETURNING id, backend_alias, task_path, queue_name, priority, status, waiting_for, args, kwargs, run_after,
       available_at, enqueued_at, started_at, last_attempted_at, finished_at, attempts, max_attempts,
       epoch, timeout, leased_by, worker_ids, errors, return_value, progress, cancel_requested
