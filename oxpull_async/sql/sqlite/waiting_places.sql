-- waiting_places: for each of these keys: how many slots are held, and the first place where rows wait for it, or NULL.
SELECT j.value,
       (SELECT count(*) FROM oxpull_task AS h INDEXED BY oxpull_task_lock_running
         WHERE h.lock_key = j.value AND h.leased_by IS NOT NULL),
       (SELECT json_array(t.backend_alias, t.queue_name) FROM oxpull_task AS t INDEXED BY oxpull_task_lock_waiting
         WHERE t.lock_key = j.value AND t.waiting_for = 'lock' ORDER BY t.backend_alias, t.queue_name LIMIT 1)
  FROM json_each(:keys) AS j
