-- glance: what an idle worker asks in one: whether rows are due, in how many seconds the next deferred one is, then whether
-- there are marks of members, marks of nodes, open batches, open workflows, silent workers or their rows, recheck marks,
-- rows that wait for a lock, rows of the worker itself; and in how many seconds a schedule is due, 0 where it is ahead.
WITH RECURSIVE holder(id) AS (
    SELECT (SELECT min(t.leased_by) FROM oxpull_task AS t INDEXED BY oxpull_task_leased WHERE t.leased_by IS NOT NULL)
    UNION ALL
    SELECT (SELECT min(t.leased_by) FROM oxpull_task AS t INDEXED BY oxpull_task_leased WHERE t.leased_by > v.id)
      FROM holder AS v WHERE v.id IS NOT NULL
)
SELECT EXISTS (SELECT 1 FROM oxpull_task AS t INDEXED BY oxpull_task_ready
                WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL)
       OR EXISTS (SELECT 1 FROM oxpull_task AS t INDEXED BY oxpull_task_ready_locked
                   WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NOT NULL
                     AND t.limit_keys IS NULL)
       OR EXISTS (SELECT 1 FROM oxpull_task AS t INDEXED BY oxpull_task_limited
                   WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.limit_keys IS NOT NULL),
       (SELECT (julianday(t.available_at) - julianday(:now)) * 86400.0
          FROM oxpull_task AS t INDEXED BY oxpull_task_deferred WHERE t.due = 0 ORDER BY t.available_at LIMIT 1),
       EXISTS (SELECT 1 FROM oxpull_batch_member AS m INDEXED BY oxpull_batch_member_recheck WHERE m.recheck = 1),
       EXISTS (SELECT 1 FROM oxpull_workflow_node AS n INDEXED BY oxpull_workflow_node_recheck WHERE n.recheck = 1),
       EXISTS (SELECT 1 FROM oxpull_batch_counts AS c INDEXED BY oxpull_batch_counts_open WHERE c.status <> 'COMPLETE'),
       EXISTS (SELECT 1 FROM oxpull_workflow_counts AS c INDEXED BY oxpull_workflow_counts_open
                WHERE c.status <> 'COMPLETE'),
       EXISTS (SELECT 1 FROM oxpull_worker AS w
                WHERE (NOT w.dead
                       AND w.lease_expires_at <= strftime('%Y-%m-%d %H:%M:%f', :now, -:grace || ' seconds') || '000')
                   OR (w.dead AND w.lease_expires_at < strftime('%Y-%m-%d %H:%M:%f', :now, '-1 day') || '000'))
       OR EXISTS (SELECT 1 FROM holder AS v WHERE v.id IS NOT NULL
                     AND NOT EXISTS (SELECT 1 FROM oxpull_worker AS w WHERE w.id = v.id AND NOT w.dead))
       OR EXISTS (SELECT 1 FROM oxpull_rate_limit AS l
                   WHERE NOT EXISTS (SELECT 1 FROM oxpull_worker AS w WHERE w.id = l.worker_id AND NOT w.dead)),
       EXISTS (SELECT 1 FROM oxpull_task AS t INDEXED BY oxpull_task_recheck WHERE t.recheck = 1),
       EXISTS (SELECT 1 FROM oxpull_task AS t INDEXED BY oxpull_task_lock_waiting WHERE t.waiting_for = 'lock'),
       EXISTS (SELECT 1 FROM oxpull_task AS t INDEXED BY oxpull_task_leased WHERE t.leased_by = :worker_id),
       (SELECT min(CASE WHEN s.last_tick_at > :now OR (s.declared AND s.starts_at > :now) THEN 0.0
                        ELSE (julianday(s.next_at) - julianday(:now)) * 86400.0 END)
          FROM oxpull_schedule AS s WHERE s.backend_alias = :backend_alias AND NOT s.paused)
