-- limited_lanes: the lanes of one queue with due rows that have limit keys, after one lane in their order, at most `limit`:
-- task path and limit keys, and of the best row rank, available_at, id. Differs because there is no stepping by recursion:
-- GROUP BY goes from lane to lane through the index, where the statistics say that this is cheaper than to read it.
SELECT g.limit_lane, g.limit_keys, b.`rank`, b.available_at, b.id
  FROM (SELECT t.limit_lane, t.limit_keys
          FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
         WHERE t.ready_lane = 3 AND t.backend_alias = :backend_alias AND t.queue_name = :queue_name
           AND (t.limit_lane > :after_path OR t.limit_lane = :after_path AND t.limit_keys > :after_keys)
         GROUP BY t.limit_lane, t.limit_keys
         ORDER BY t.limit_lane, t.limit_keys LIMIT :limit) AS g
  STRAIGHT_JOIN oxpull_task AS b FORCE INDEX (PRIMARY) ON b.id = (
      SELECT t.id FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
       WHERE t.ready_lane = 3 AND t.backend_alias = :backend_alias AND t.queue_name = :queue_name
         AND t.limit_lane = g.limit_lane AND t.limit_keys = g.limit_keys
       ORDER BY t.`rank`, t.available_at, t.id LIMIT 1)
 WHERE NOT EXISTS (SELECT 1 FROM oxpull_queue AS p
                    WHERE p.backend_alias = :backend_alias AND p.queue_name = :queue_name AND p.paused)
