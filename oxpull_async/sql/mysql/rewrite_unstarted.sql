-- rewrite_unstarted: give tasks that have not started new arguments; matches those that were rewritten.
-- A `wait` moves run_after to that many seconds from now, never past `max_wait` seconds after the first enqueue.
-- The order of the assignments matters: waiting_for is the last, the others read it.
UPDATE (
    SELECT n.id, n.args, n.kwargs, n.priority, n.reruns, n.lock_key, n.lock_limit, n.lock_conflict, n.limit_keys,
           CASE WHEN n.wait IS NULL THEN n.run_after
                WHEN n.max_wait IS NULL THEN :now + INTERVAL ROUND(n.wait * 1000000) MICROSECOND
                ELSE LEAST(:now + INTERVAL ROUND(n.wait * 1000000) MICROSECOND,
                           u.first_at + INTERVAL ROUND(n.max_wait * 1000000) MICROSECOND) END AS run_after
      FROM JSON_TABLE(:tasks, '$[*]' COLUMNS (
            id CHAR(32) CHARACTER SET utf8mb4 PATH '$.id' ERROR ON ERROR,
            unique_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$.unique_key' ERROR ON ERROR,
            args LONGTEXT CHARACTER SET utf8mb4 PATH '$.args' ERROR ON ERROR,
            kwargs LONGTEXT CHARACTER SET utf8mb4 PATH '$.kwargs' ERROR ON ERROR,
            priority INT PATH '$.priority' ERROR ON ERROR,
            run_after DATETIME(6) PATH '$.run_after' ERROR ON ERROR,
            wait DOUBLE PATH '$.wait' ERROR ON ERROR,
            max_wait DOUBLE PATH '$.max_wait' ERROR ON ERROR,
            reruns INT PATH '$.reruns' ERROR ON ERROR,
            lock_key VARCHAR(64) CHARACTER SET utf8mb4 PATH '$.lock_key' ERROR ON ERROR,
            lock_limit INT PATH '$.lock_limit' ERROR ON ERROR,
            lock_conflict VARCHAR(8) CHARACTER SET utf8mb4 PATH '$.lock_conflict' ERROR ON ERROR,
            limit_keys VARCHAR(255) CHARACTER SET ascii PATH '$.limit_keys' ERROR ON ERROR)) AS n
      LEFT JOIN oxpull_unique AS u FORCE INDEX (PRIMARY) ON u.unique_key = n.unique_key) AS d
  STRAIGHT_JOIN oxpull_task AS t FORCE INDEX (PRIMARY) ON t.id = d.id
   SET t.args = d.args, t.kwargs = d.kwargs, t.priority = d.priority, t.`rank` = 0 - d.priority,
       t.reruns = t.reruns OR d.reruns, t.lock_key = d.lock_key, t.lock_limit = d.lock_limit, t.lock_conflict = d.lock_conflict,
       t.limit_keys = d.limit_keys,
       t.due = CASE WHEN t.status <> 'READY' AND t.waiting_for <> 'lock' THEN NULL WHEN d.run_after > :now THEN 0 ELSE 1 END,
       t.available_at = COALESCE(d.run_after, t.enqueued_at), t.run_after = d.run_after,
       t.status = IF(t.waiting_for = 'lock', 'READY', t.status), t.waiting_for = NULLIF(t.waiting_for, 'lock')
 WHERE t.status IN ('READY', 'WAITING') AND t.attempts = 0
