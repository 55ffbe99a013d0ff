-- glance: what an idle worker asks in one: whether rows are due, in how many seconds the next deferred one is, then whether
-- there are marks of members, marks of nodes, open batches, open workflows, silent workers or their rows, recheck marks,
-- rows that wait for a lock, rows of the worker itself; and in how many seconds a schedule is due, 0 where it is ahead.
SELECT (SELECT MIN(t.queue_name) FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
         WHERE t.ready_lane = 1 AND t.backend_alias = :backend_alias) IS NOT NULL
       OR (SELECT MIN(t.queue_name) FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
            WHERE t.ready_lane = 2 AND t.backend_alias = :backend_alias) IS NOT NULL
       OR (SELECT MIN(t.queue_name) FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
            WHERE t.ready_lane = 3 AND t.backend_alias = :backend_alias) IS NOT NULL,
       TIMESTAMPDIFF(MICROSECOND, :now, (SELECT MIN(d.deferred_until) FROM oxpull_task AS d)) / 1000000,
       EXISTS (SELECT 1 FROM oxpull_batch_member AS m FORCE INDEX (oxpull_batch_member_recheck) WHERE m.recheck = 1),
       EXISTS (SELECT 1 FROM oxpull_workflow_node AS n FORCE INDEX (oxpull_workflow_node_recheck) WHERE n.recheck = 1),
       EXISTS (SELECT 1 FROM oxpull_batch_counts AS c FORCE INDEX (oxpull_batch_counts_open)
                WHERE c.status IN ('OPEN', 'SEALED')),
       EXISTS (SELECT 1 FROM oxpull_workflow_counts AS c FORCE INDEX (oxpull_workflow_counts_open)
                WHERE c.status IN ('OPEN', 'SEALED')),
       EXISTS (SELECT 1 FROM oxpull_worker AS w
                WHERE (NOT w.dead AND w.lease_expires_at <= :now - INTERVAL ROUND(:grace * 1000000) MICROSECOND)
                   OR (w.dead AND w.lease_expires_at < :now - INTERVAL 1 DAY))
       OR EXISTS (SELECT 1 FROM (SELECT t.leased_by AS id FROM oxpull_task AS t FORCE INDEX (oxpull_task_leased)
                                  WHERE t.leased_by IS NOT NULL GROUP BY t.leased_by) AS h
                   WHERE NOT EXISTS (SELECT 1 FROM oxpull_worker AS w WHERE w.id = h.id AND NOT w.dead))
       OR EXISTS (SELECT 1 FROM oxpull_rate_limit AS l
                   WHERE NOT EXISTS (SELECT 1 FROM oxpull_worker AS w WHERE w.id = l.worker_id AND NOT w.dead)),
       EXISTS (SELECT 1 FROM oxpull_task AS t FORCE INDEX (oxpull_task_leased)
                WHERE t.leased_by IS NULL AND t.recheck = 1),
       EXISTS (SELECT 1 FROM oxpull_task AS t FORCE INDEX (oxpull_task_lock)
                WHERE t.lock_state >= 'w' AND t.lock_state < 'x'),
       EXISTS (SELECT 1 FROM oxpull_task AS t FORCE INDEX (oxpull_task_leased) WHERE t.leased_by = :worker_id),
       (SELECT MIN(IF(s.last_tick_at > :now OR (s.declared AND s.starts_at > :now), 0,
                      TIMESTAMPDIFF(MICROSECOND, :now, s.next_at) / 1000000))
          FROM oxpull_schedule AS s WHERE s.backend_alias = :backend_alias AND NOT s.paused)
