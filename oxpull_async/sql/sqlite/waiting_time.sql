-- waiting_time: for how many seconds the oldest due row has been ready, and how many running rows have no living worker.
-- Rows that rate limits may hold up are left out.
SELECT (SELECT (julianday(:now) - julianday(min(oldest))) * 86400.0
          FROM (SELECT min(t.available_at) AS oldest FROM oxpull_task AS t INDEXED BY oxpull_task_ready
                 WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NULL AND t.limit_keys IS NULL
                UNION ALL
                SELECT min(t.available_at) FROM oxpull_task AS t INDEXED BY oxpull_task_ready_locked
                 WHERE t.backend_alias = :backend_alias AND t.due = 1 AND t.lock_key IS NOT NULL AND t.limit_keys IS NULL)),
       (SELECT count(*) FROM oxpull_task AS t INDEXED BY oxpull_task_leased
         WHERE t.leased_by IS NOT NULL AND t.status = 'RUNNING'
           AND NOT EXISTS (SELECT 1 FROM oxpull_worker w WHERE w.id = t.leased_by AND NOT w.dead))
