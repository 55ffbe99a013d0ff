-- pending_follow_ups: id and queue of rows that wait for the end of their key's holder.
-- They have no index: each is found from the row that holds its key, which is unfinished and declared to rerun. Of each
-- kind of unfinished rows `limit` are looked at.
SELECT d.id, d.queue_name
  FROM ((SELECT t.unique_key, t.reruns FROM oxpull_task AS t FORCE INDEX (oxpull_task_leased)
          WHERE t.leased_by IS NOT NULL LIMIT :limit)
        UNION ALL
        (SELECT t.unique_key, t.reruns FROM oxpull_task AS t FORCE INDEX (oxpull_task_deferred)
          WHERE t.deferred_until IS NOT NULL LIMIT :limit)
        UNION ALL
        (SELECT t.unique_key, t.reruns FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
          WHERE t.ready_lane IN (1, 2, 3) AND t.backend_alias = :backend_alias LIMIT :limit)
        UNION ALL
        (SELECT t.unique_key, t.reruns FROM oxpull_task AS t FORCE INDEX (oxpull_task_lock)
          WHERE t.lock_state >= 'w' AND t.lock_state < 'x' LIMIT :limit)) AS k
  STRAIGHT_JOIN oxpull_unique AS u FORCE INDEX (PRIMARY) ON u.unique_key = k.unique_key
  STRAIGHT_JOIN oxpull_task AS d FORCE INDEX (PRIMARY) ON d.id = u.follow_up_id
 WHERE k.reruns AND d.status = 'WAITING' AND d.backend_alias = :backend_alias
