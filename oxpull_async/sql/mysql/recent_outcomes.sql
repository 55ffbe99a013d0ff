-- recent_outcomes: how the newest `limit` rows ended, by queue and status; those that have not ended are left out.
SELECT n.queue_name, n.status, COUNT(*)
  FROM (SELECT t.queue_name, t.status, t.backend_alias FROM oxpull_task AS t FORCE INDEX (PRIMARY)
         ORDER BY t.id DESC LIMIT :limit) AS n
 WHERE n.backend_alias = :backend_alias AND n.status IN ('SUCCESSFUL', 'FAILED', 'LOST', 'DISCARDED')
 GROUP BY n.queue_name, n.status
