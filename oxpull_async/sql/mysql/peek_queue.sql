-- peek_queue: the first queue after `after` with due rows, whether it is paused, when the next deferred row is due,
-- whether due rows after `after` have a running lock, whether this queue's have limit keys, whether others, and whether a
-- worker declares a rate limit. Differs because only constants make the optimizer go straight to a key in the index.
SELECT f.queue_name,
       EXISTS (SELECT 1 FROM oxpull_queue AS q
                WHERE q.backend_alias = :backend_alias AND q.paused AND q.queue_name = f.queue_name),
       TIMESTAMPDIFF(MICROSECOND, :now, (SELECT MIN(d.deferred_until) FROM oxpull_task AS d)) / 1000000,
       f.locked IS NOT NULL, f.queue_name = f.limited, f.queue_name = f.free OR f.queue_name = f.locked,
       EXISTS (SELECT 1 FROM oxpull_rate_limit AS l WHERE l.backend_alias = :backend_alias)
  FROM (SELECT n.free, n.locked, n.limited, LEAST(COALESCE(n.free, n.locked, n.limited),
               COALESCE(n.locked, n.limited, n.free), COALESCE(n.limited, n.free, n.locked)) AS queue_name
          FROM (SELECT (SELECT MIN(t.queue_name) FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
                         WHERE t.ready_lane = 1 AND t.backend_alias = :backend_alias AND t.queue_name > :after) AS free,
                       (SELECT MIN(t.queue_name) FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
                         WHERE t.ready_lane = 2 AND t.backend_alias = :backend_alias AND t.queue_name > :after) AS locked,
                       (SELECT MIN(t.queue_name) FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
                         WHERE t.ready_lane = 3 AND t.backend_alias = :backend_alias AND t.queue_name > :after) AS limited
               ) AS n) AS f
