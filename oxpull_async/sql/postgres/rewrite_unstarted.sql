-- rewrite_unstarted: give tasks that have not started new arguments; matches those that were rewritten.
-- A `wait` moves run_after to that many seconds from now, never past `max_wait` seconds after the first enqueue.
-- The list of ids keeps the planner from reading a whole table that it has no statistics of.
WITH n AS MATERIALIZED (
    SELECT * FROM json_to_recordset(:tasks::text::json) AS n(
           id uuid, unique_key text, args text, kwargs text, priority int, run_after timestamp, wait float8,
           max_wait float8, reruns boolean, lock_key text, lock_limit int, lock_conflict text, limit_keys text)
)
UPDATE oxpull_task AS t
   SET args = n.args::jsonb, kwargs = n.kwargs::jsonb, priority = n.priority, "rank" = -n.priority,
       run_after = d.run_after, available_at = COALESCE(d.run_after, t.enqueued_at),
       reruns = t.reruns OR n.reruns, lock_key = n.lock_key, lock_limit = n.lock_limit, lock_conflict = n.lock_conflict,
       limit_keys = n.limit_keys,
       status = CASE WHEN t.waiting_for = 'lock' THEN 'READY' ELSE t.status END,
       waiting_for = NULLIF(t.waiting_for, 'lock'),
       due = CASE WHEN t.status <> 'READY' AND t.waiting_for <> 'lock' THEN NULL WHEN d.run_after > :now THEN 0 ELSE 1 END
  FROM n
  LEFT JOIN oxpull_unique u ON u.unique_key = n.unique_key
 CROSS JOIN LATERAL (VALUES (
     COALESCE(LEAST(:now + make_interval(secs => n.wait), u.first_at + make_interval(secs => n.max_wait)),
              n.run_after AT TIME ZONE 'UTC'))) AS d(run_after)
 WHERE t.id = n.id AND t.id = ANY(ARRAY(SELECT n.id FROM n)) AND t.status IN ('READY', 'WAITING') AND t.attempts = 0
