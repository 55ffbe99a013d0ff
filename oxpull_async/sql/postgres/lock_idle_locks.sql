-- lock_idle_locks: lock the next lock rows of running locks that no task runs under, waits for or is due with, and nobody holds.
SELECT l.lock_key FROM oxpull_lock l
 WHERE l.lock_key > :after::text
   AND NOT EXISTS (SELECT 1 FROM oxpull_task t
                    WHERE t.lock_key = l.lock_key AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL AND t.due + 0 = 1)
   AND NOT EXISTS (SELECT 1 FROM oxpull_task t WHERE t.lock_key = l.lock_key AND t.waiting_for = 'lock')
   AND NOT EXISTS (SELECT 1 FROM oxpull_task t
                    WHERE t.lock_key = l.lock_key AND t.lock_key IS NOT NULL AND t.leased_by IS NOT NULL)
 ORDER BY l.lock_key LIMIT :limit::int FOR UPDATE SKIP LOCKED
