-- next_place: the place after this one where rows wait for the key, or NULL.
SELECT (SELECT json_array(t.backend_alias, t.queue_name) FROM oxpull_task AS t INDEXED BY oxpull_task_lock_waiting
         WHERE t.lock_key = :lock_key AND t.waiting_for = 'lock'
           AND (t.backend_alias, t.queue_name) > (json_extract(:place, '$[0]'), json_extract(:place, '$[1]'))
         ORDER BY t.backend_alias, t.queue_name LIMIT 1)
