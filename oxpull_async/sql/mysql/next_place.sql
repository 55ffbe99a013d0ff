-- next_place: the place after this one where rows wait for the key, or NULL.
SELECT MIN(t.lock_queue) FROM oxpull_task AS t FORCE INDEX (oxpull_task_lock)
 WHERE t.lock_state = CONCAT('w', :lock_key) AND t.lock_queue > :place
