-- taken_slots: the attempts that hold slots of these keys: key, task, attempt and worker. A running row is its own slot.
SELECT t.lock_key, t.id::text, t.attempts, t.leased_by::text FROM oxpull_task t
 WHERE t.lock_key = ANY(ARRAY(SELECT jsonb_array_elements_text(:keys::text::jsonb)))
   AND t.lock_key IS NOT NULL AND t.leased_by IS NOT NULL AND t.status = 'RUNNING'
