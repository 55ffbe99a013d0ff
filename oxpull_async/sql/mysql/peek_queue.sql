-- peek_queue: the first queue after `after` that has due rows, whether it is paused, and when the next deferred row is due.
-- Differs because only constants make the optimizer go straight to a key in the index, so each queue is asked for alone;
-- DISTINCT does so only while the statistics happen to be good.
SELECT n.queue_name,
       EXISTS (SELECT 1 FROM oxpull_queue AS q
                WHERE q.backend_alias = :backend_alias AND q.queue_name = n.queue_name AND q.paused),
       TIMESTAMPDIFF(MICROSECOND, :now, (SELECT MIN(d.deferred_until) FROM oxpull_task AS d)) / 1000000
  FROM (SELECT MIN(t.queue_name) AS queue_name
          FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
         WHERE t.due = 1 AND t.backend_alias = :backend_alias AND t.queue_name > :after) AS n
