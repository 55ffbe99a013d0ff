-- waiting_time: for how many seconds the oldest due row has been ready, and how many running rows have no living worker.
-- Rows that rate limits may hold up are left out.
SELECT (SELECT TIMESTAMPDIFF(MICROSECOND, MIN(t.available_at), :now) / 1000000
          FROM oxpull_task AS t FORCE INDEX (oxpull_task_ready)
         WHERE t.ready_lane IN (1, 2) AND t.backend_alias = :backend_alias),
       (SELECT COUNT(*) FROM oxpull_task AS t FORCE INDEX (oxpull_task_leased)
         WHERE t.leased_by IS NOT NULL AND t.status = 'RUNNING'
           AND NOT EXISTS (SELECT 1 FROM oxpull_worker AS w WHERE w.id = t.leased_by AND NOT w.dead))
