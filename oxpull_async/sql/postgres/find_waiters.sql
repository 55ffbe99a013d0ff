-- find_waiters: lock the best rows of each queue that wait for these keys and that the slots held now would let in.
-- As many per key and queue as `free` says. The recursion steps from queue to queue, however many rows wait in each.
SELECT w.id::text
  FROM json_to_recordset(:freed::text::json) AS f(lock_key text, free int)
 CROSS JOIN LATERAL (
    SELECT count(*) AS held FROM oxpull_task h
     WHERE h.lock_key = f.lock_key AND h.lock_key IS NOT NULL AND h.leased_by IS NOT NULL) AS s
 CROSS JOIN LATERAL (
    WITH RECURSIVE place AS (
        (SELECT t.backend_alias, t.queue_name FROM oxpull_task t
          WHERE t.lock_key = f.lock_key AND t.waiting_for = 'lock'
          ORDER BY t.backend_alias, t.queue_name LIMIT 1)
        UNION ALL
        SELECT n.backend_alias, n.queue_name FROM place
         CROSS JOIN LATERAL (
            SELECT t.backend_alias, t.queue_name FROM oxpull_task t
             WHERE t.lock_key = f.lock_key AND t.waiting_for = 'lock'
               AND (t.backend_alias, t.queue_name) > (place.backend_alias, place.queue_name)
             ORDER BY t.backend_alias, t.queue_name LIMIT 1) AS n)
    SELECT place.backend_alias, place.queue_name FROM place) AS q
 CROSS JOIN LATERAL (
    SELECT t.id FROM oxpull_task t
     WHERE t.lock_key = f.lock_key AND t.waiting_for = 'lock' AND t.lock_limit > s.held
       AND t.backend_alias = q.backend_alias AND t.queue_name = q.queue_name
     ORDER BY t."rank", t.available_at, t.id LIMIT (SELECT f.free) FOR UPDATE SKIP LOCKED) AS w
