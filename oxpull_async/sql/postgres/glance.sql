-- glance: what an idle worker asks in one: whether rows are due, in how many seconds the next deferred one is, then whether
-- there are marks of members, marks of nodes, open batches, open workflows, silent workers or their rows, recheck marks,
-- rows that wait for a lock, rows of the worker itself; and in how many seconds a schedule is due, 0 where it is ahead.
WITH RECURSIVE holder(id) AS (
    (SELECT t.leased_by FROM oxpull_task t WHERE t.leased_by IS NOT NULL ORDER BY t.leased_by LIMIT 1)
    UNION ALL
    SELECT (SELECT t.leased_by FROM oxpull_task t WHERE t.leased_by > h.id ORDER BY t.leased_by LIMIT 1)
      FROM holder h WHERE h.id IS NOT NULL
)
SELECT (SELECT t.queue_name FROM oxpull_task t
         WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL
         ORDER BY t.queue_name LIMIT 1) IS NOT NULL
       OR (SELECT t.queue_name FROM oxpull_task t
            WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL
            ORDER BY t.queue_name LIMIT 1) IS NOT NULL
       OR (SELECT t.queue_name FROM oxpull_task t
            WHERE t.backend_alias = :backend_alias::text AND t.due = 1 AND t.limit_keys IS NOT NULL
            ORDER BY t.queue_name LIMIT 1) IS NOT NULL,
       (SELECT EXTRACT(EPOCH FROM t.available_at - :now)::float8
          FROM oxpull_task t WHERE t.due = 0 ORDER BY t.available_at LIMIT 1),
       (SELECT m.task_id FROM oxpull_batch_member m WHERE m.recheck = 1 ORDER BY m.task_id LIMIT 1) IS NOT NULL,
       (SELECT n.task_id FROM oxpull_workflow_node n WHERE n.recheck = 1 ORDER BY n.task_id LIMIT 1) IS NOT NULL,
       (SELECT c.batch_id FROM oxpull_batch_counts c WHERE c.status <> 'COMPLETE'
         ORDER BY c.batch_id LIMIT 1) IS NOT NULL,
       (SELECT c.workflow_id FROM oxpull_workflow_counts c WHERE c.status <> 'COMPLETE'
         ORDER BY c.workflow_id LIMIT 1) IS NOT NULL,
       EXISTS (SELECT 1 FROM oxpull_worker w
                WHERE (NOT w.dead AND w.lease_expires_at <= :now - make_interval(secs => :grace::float8))
                   OR (w.dead AND w.lease_expires_at < :now - interval '1 day'))
       OR EXISTS (SELECT 1 FROM holder h WHERE h.id IS NOT NULL
                     AND NOT EXISTS (SELECT 1 FROM oxpull_worker w WHERE w.id = h.id AND NOT w.dead))
       OR EXISTS (SELECT 1 FROM oxpull_rate_limit l
                   WHERE NOT EXISTS (SELECT 1 FROM oxpull_worker w WHERE w.id = l.worker_id AND NOT w.dead)),
       (SELECT t.id FROM oxpull_task t WHERE t.recheck = 1 ORDER BY t.id LIMIT 1) IS NOT NULL,
       (SELECT t.lock_key FROM oxpull_task t WHERE t.waiting_for = 'lock' ORDER BY t.lock_key LIMIT 1) IS NOT NULL,
       EXISTS (SELECT 1 FROM holder h WHERE h.id = :worker_id::text::uuid),
       (SELECT min(CASE WHEN s.last_tick_at > :now OR (s.declared AND s.starts_at > :now) THEN 0
                        ELSE EXTRACT(EPOCH FROM s.next_at - :now)::float8 END)
          FROM oxpull_schedule s WHERE s.backend_alias = :backend_alias::text AND NOT s.paused)
