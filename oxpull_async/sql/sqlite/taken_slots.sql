-- taken_slots: the attempts that hold slots of these keys: key, task, attempt and worker. A running row is its own slot.
SELECT t.lock_key, t.id, t.attempts, t.leased_by FROM oxpull_task AS t INDEXED BY oxpull_task_lock_running
 WHERE t.lock_key IN (SELECT value FROM json_each(:keys)) AND t.leased_by IS NOT NULL AND t.status = 'RUNNING'
