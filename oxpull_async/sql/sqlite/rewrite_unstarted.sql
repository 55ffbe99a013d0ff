-- rewrite_unstarted: give tasks that have not started new arguments; matches those that were rewritten.
-- A `wait` moves run_after to then, never past `max_wait` after the first enqueue; beyond the calendar available_at is
-- NULL, and so refused. What is compared stands in the list, else statistics of few rows have the whole table read.
UPDATE oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
   SET args = n.args, kwargs = n.kwargs, priority = n.priority, "rank" = -n.priority, run_after = n.run_after,
       available_at = CASE WHEN n.wait IS NULL THEN COALESCE(n.run_after, t.enqueued_at) ELSE n.run_after END,
       reruns = t.reruns OR n.reruns, lock_key = n.lock_key, lock_limit = n.lock_limit, lock_conflict = n.lock_conflict,
       limit_keys = n.limit_keys,
       status = CASE WHEN t.waiting_for = 'lock' THEN 'READY' ELSE t.status END,
       waiting_for = NULLIF(t.waiting_for, 'lock'),
       due = CASE WHEN t.status <> 'READY' AND t.waiting_for <> 'lock' THEN NULL WHEN n.run_after > :now THEN 0 ELSE 1 END
  FROM (WITH timed AS MATERIALIZED (
            SELECT j.value AS given, json_extract(j.value, '$.wait') AS wait,
                   strftime('%Y-%m-%d %H:%M:%f', :now, json_extract(j.value, '$.wait') || ' seconds') || '000' AS moved,
                   strftime('%Y-%m-%d %H:%M:%f', (
                       SELECT u.first_at
                         FROM oxpull_task AS k INDEXED BY sqlite_autoindex_oxpull_task_1
                        CROSS JOIN oxpull_unique AS u INDEXED BY sqlite_autoindex_oxpull_unique_1
                        WHERE k.id = json_extract(j.value, '$.id') AND u.unique_key = k.unique_key
                   ), json_extract(j.value, '$.max_wait') || ' seconds') || '000' AS latest
              FROM json_each(:tasks) AS j),
        rewritten AS MATERIALIZED (
            SELECT json_extract(d.given, '$.id') AS id, json_extract(d.given, '$.args') AS args,
                   json_extract(d.given, '$.kwargs') AS kwargs, json_extract(d.given, '$.priority') AS priority, d.wait,
                   CASE WHEN d.wait IS NULL THEN json_extract(d.given, '$.run_after')
                        ELSE min(d.moved, COALESCE(d.latest, d.moved)) END AS run_after,
                   json_extract(d.given, '$.reruns') AS reruns,
                   json_extract(d.given, '$.lock_key') AS lock_key, json_extract(d.given, '$.lock_limit') AS lock_limit,
                   json_extract(d.given, '$.lock_conflict') AS lock_conflict,
                   json_extract(d.given, '$.limit_keys') AS limit_keys,
                   'READY' AS ready, 'WAITING' AS waiting, 0 AS attempts
              FROM timed AS d)
        SELECT * FROM rewritten) AS n
 WHERE t.id = n.id AND t.status IN (n.ready, n.waiting) AND t.attempts = n.attempts
