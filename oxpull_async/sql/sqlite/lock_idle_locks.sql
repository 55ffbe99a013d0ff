-- lock_idle_locks: the next lock rows of running locks that no task runs under, waits for or is due with.
-- Locks nothing: there is one writer, and this one is it.
SELECT l.lock_key FROM oxpull_lock l
 WHERE l.lock_key > :after
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS t INDEXED BY oxpull_task_lock_ready
                    WHERE t.lock_key = l.lock_key AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL AND t.due = 1)
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS t INDEXED BY oxpull_task_lock_waiting
                    WHERE t.lock_key = l.lock_key AND t.waiting_for = 'lock')
   AND NOT EXISTS (SELECT 1 FROM oxpull_task AS t INDEXED BY oxpull_task_lock_running
                    WHERE t.lock_key = l.lock_key AND t.lock_key IS NOT NULL AND t.leased_by IS NOT NULL)
 ORDER BY l.lock_key LIMIT :limit
