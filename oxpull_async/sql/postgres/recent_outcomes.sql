-- recent_outcomes: how the newest `limit` rows ended, by queue and status; those that have not ended are left out.
SELECT n.queue_name, n.status, count(*)
  FROM (SELECT t.queue_name, t.status, t.backend_alias FROM oxpull_task t
         WHERE t.id > '00000000-0000-0000-0000-000000000000' ORDER BY t.id DESC LIMIT (SELECT :limit::int)) AS n
 WHERE n.backend_alias = :backend_alias::text AND n.status IN ('SUCCESSFUL', 'FAILED', 'LOST', 'DISCARDED')
 GROUP BY n.queue_name, n.status
