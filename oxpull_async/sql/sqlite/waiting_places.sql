-- waiting_places: where rows wait for these keys: key, alias, queue, and how many slots of the key are held.
-- The recursion steps from queue to queue, however many rows wait in each.
SELECT w.lock_key, w.backend_alias, w.queue_name, (
    SELECT count(*) FROM oxpull_task AS h INDEXED BY oxpull_task_lock_running
     WHERE h.lock_key = w.lock_key AND h.leased_by IS NOT NULL)
  FROM (WITH RECURSIVE place(lock_key, backend_alias, queue_name) AS (
            SELECT j.value, NULL, NULL FROM json_each(:keys) AS j
            UNION ALL
            SELECT t.lock_key, t.backend_alias, t.queue_name
              FROM place
             CROSS JOIN oxpull_task AS t INDEXED BY sqlite_autoindex_oxpull_task_1
             WHERE t.id = (
                SELECT n.id FROM oxpull_task AS n INDEXED BY oxpull_task_lock_waiting
                 WHERE n.waiting_for = 'lock' AND n.lock_key = place.lock_key
                   AND (n.backend_alias, n.queue_name)
                       > (COALESCE(place.backend_alias, ''), COALESCE(place.queue_name, ''))
                 ORDER BY n.backend_alias, n.queue_name LIMIT 1))
        SELECT * FROM place WHERE queue_name IS NOT NULL) AS w
