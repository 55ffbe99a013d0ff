-- peek_queue: the first queue after `after` with due rows, whether it is paused, when the next deferred row is due, and
-- whether due rows after `after` have a running lock. Differs because only constants make the optimizer go straight to
-- a key in the index, so each queue is asked for alone; DISTINCT does so only while the statistics happen to be good.
SELECT LEAST(COALESCE(n.free, n.locked), COALESCE(n.locked, n.free)),
       EXISTS (SELECT 1 FROM oxpull_queue AS q
                WHERE q.backend_alias = :backend_alias AND q.paused
                  AND q.queue_name = LEAST(COALESCE(n.free, n.locked), COALESCE(n.locked, n.free))),
       TIMESTAMPDIFF(MICROSECOND, :now, (SELECT MIN(d.deferred_until) FROM oxpull_task AS d)) / 1000000,
       n.locked IS NOT NULL
  FROM (SELECT (SELECT MIN(t.queue_name) FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
                 WHERE t.ready_lane = 1 AND t.backend_alias = :backend_alias AND t.queue_name > :after) AS free,
               (SELECT MIN(t.queue_name) FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
                 WHERE t.ready_lane = 2 AND t.backend_alias = :backend_alias AND t.queue_name > :after) AS locked) AS n
