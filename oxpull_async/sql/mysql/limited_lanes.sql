-- limited_lanes: the next lanes of one queue with due rows that have limit keys, after one lane in their order, at most
-- `limit`: task path and limit keys, and of the best row rank, available_at, id. Differs because there is no stepping by
-- recursion: it reads the index for 500 rows, so the next look begins behind the last lane, and passes its other rows.
SELECT g.limit_lane, g.limit_keys, g.`rank`, g.available_at, g.id
  FROM (SELECT c.limit_lane, c.limit_keys, c.`rank`, c.available_at, c.id,
               ROW_NUMBER() OVER (PARTITION BY c.limit_lane, c.limit_keys ORDER BY c.`rank`, c.available_at, c.id) AS place
          FROM (SELECT t.limit_lane, t.limit_keys, t.`rank`, t.available_at, t.id
                  FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
                 WHERE t.ready_lane = 3 AND t.backend_alias = :backend_alias AND t.queue_name = :queue_name
                   AND (t.limit_lane > :after_path OR t.limit_lane = :after_path AND t.limit_keys > :after_keys)
                 ORDER BY t.limit_lane, t.limit_keys, t.`rank`, t.available_at, t.id LIMIT 500) AS c) AS g
 WHERE g.place = 1
   AND NOT EXISTS (SELECT 1 FROM oxpull_queue AS p
                    WHERE p.backend_alias = :backend_alias AND p.queue_name = :queue_name AND p.paused)
 ORDER BY g.limit_lane, g.limit_keys LIMIT :limit
